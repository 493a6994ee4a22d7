// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package rpc

import (
	"context"
	"sync"

	"google.golang.org/protobuf/proto"

	"github.com/berth-run/berth/api"
	"github.com/berth-run/berth/server/registry"
)

// Handover takes the objects and lists of answers as they are in memory, shared. A
// caller within the process that does not want
// them encoded puts one into the context of its call: each reply that would carry an
// object comes without, and the object is the next to take. It is safe for
// concurrent use.
type Handover struct {
	mu      sync.Mutex
	waiting []Handed
}

// Handed is an object or a list of that kind.
type Handed struct {
	Kind   *api.Kind
	Object api.Object
	List   *registry.List
}

// Take returns the object of the oldest reply that has not been asked for; false
// if there is none.
func (h *Handover) Take() (Handed, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.waiting) == 0 {
		return Handed{}, false
	}
	next := h.waiting[0]
	h.waiting = h.waiting[1:]
	return next, true
}

func (h *Handover) put(handed Handed) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.waiting = append(h.waiting, handed)
}

type handoverKey struct{}

// WithHandover returns a context whose call hands its answers over.
func WithHandover(ctx context.Context, h *Handover) context.Context {
	return context.WithValue(ctx, handoverKey{}, h)
}

func handoverOf(ctx context.Context) *Handover {
	h, _ := ctx.Value(handoverKey{}).(*Handover)
	return h
}

// giveObject puts obj into a reply, or hands it over.
func giveObject(ctx context.Context, out proto.Message, k *api.Kind, obj api.Object, asManifest bool) error {
	if h := handoverOf(ctx); h != nil {
		h.put(Handed{Kind: k, Object: obj})
		return nil
	}
	return setObject(out, k, obj, asManifest)
}

// giveList puts a list into a reply, or hands it over.
func giveList(ctx context.Context, out proto.Message, k *api.Kind, list registry.List, asManifest bool) error {
	if h := handoverOf(ctx); h != nil {
		h.put(Handed{Kind: k, List: &list})
		return nil
	}
	return setList(out, k, list, asManifest)
}
