// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package dispatch

import (
	"github.com/berth-run/berth/api"
	corepb "github.com/berth-run/berth/proto/berth/core/v1"
	nodepb "github.com/berth-run/berth/proto/berth/node/v1"
)

// maxMessage bounds the encoded objects of one message; a single larger object
// goes alone.
const maxMessage = 1 << 20

// serverSource names this server as the source of pods.
const serverSource = "server"

// podBatch gathers pods of one operation after another into messages.
type podBatch struct {
	send   func(*nodepb.PodUpdate) error
	update *nodepb.PodUpdate
	size   int
}

// add takes the encoding of a pod, and sends what was gathered if it does not fit
// with it.
func (b *podBatch) add(op api.Op, pod []byte) error {
	wireOp := nodepb.PodUpdate_Op(op)
	if b.update != nil && (b.update.Op != wireOp || b.size+len(pod) > maxMessage) {
		if err := b.flush(); err != nil {
			return err
		}
	}
	if b.update == nil {
		b.update = &nodepb.PodUpdate{Op: wireOp, Source: serverSource}
	}
	b.update.Pods = append(b.update.Pods, api.Raw(&corepb.Pod{}, pod))
	b.size += len(pod)
	return nil
}

func (b *podBatch) flush() error {
	update := b.update
	b.update, b.size = nil, 0
	if update == nil {
		return nil
	}
	return b.send(update)
}

// objectBatch gathers Secrets and ConfigMaps into messages.
type objectBatch struct {
	send    func(*nodepb.Objects) error
	objects *nodepb.Objects
	size    int
}

// set takes the encoding of an object of that kind.
func (b *objectBatch) set(kind *api.Kind, object []byte) error {
	if err := b.room(len(object)); err != nil {
		return err
	}
	switch kind {
	case api.Secrets:
		b.objects.Secrets = append(b.objects.Secrets, api.Raw(&corepb.Secret{}, object))
	case api.ConfigMaps:
		b.objects.ConfigMaps = append(b.objects.ConfigMaps, api.Raw(&corepb.ConfigMap{}, object))
	case api.RuntimeClasses:
		b.objects.RuntimeClasses = append(b.objects.RuntimeClasses, api.Raw(&corepb.RuntimeClass{}, object))
	}
	return nil
}

// remove takes an object that the reader shall forget.
func (b *objectBatch) remove(key objectKey) error {
	k := &nodepb.ObjectKey{Kind: key.kind.Name, Namespace: key.namespace, Name: key.name}
	if err := b.room(len(k.Namespace) + len(k.Name)); err != nil {
		return err
	}
	b.objects.Removed = append(b.objects.Removed, k)
	return nil
}

// room sends what was gathered if size more bytes do not fit with it.
func (b *objectBatch) room(size int) error {
	if b.objects != nil && b.size+size > maxMessage {
		if err := b.flush(); err != nil {
			return err
		}
	}
	if b.objects == nil {
		b.objects = &nodepb.Objects{}
	}
	b.size += size
	return nil
}

func (b *objectBatch) flush() error {
	objects := b.objects
	b.objects, b.size = nil, 0
	if objects == nil {
		return nil
	}
	return b.send(objects)
}
