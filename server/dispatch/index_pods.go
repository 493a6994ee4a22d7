// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package dispatch

import (
	"context"
	"log/slog"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-run/berth/api"
	"github.com/berth-run/berth/server/registry"
)

// podSink keeps the pods of the index.
type podSink struct {
	registry Registry
	index    *index
	logger   *slog.Logger
}

// Set takes in a pod that is bound, after what it is the first time seen to name:
// the other kinds may be behind this one. Changes of those objects
// are kept from before they are read, so none is missed.
func (s podSink) Set(ctx context.Context, e registry.WatchEvent) {
	pod := e.Object.(*corev1.Pod)
	if pod.Spec.NodeName == "" {
		return
	}
	for _, key := range s.index.nameObjects(pod.Spec.NodeName, pod.UID, referencesOf(pod)) {
		obj, err := s.registry.Get(ctx, key.kind, key.namespace, key.name)
		switch {
		case err == nil:
			s.index.setObject(key, objectRecord(obj))
		case !apierrors.IsNotFound(err):
			s.logger.Warn("cannot read what a pod names",
				"pod", api.FullName(pod), "kind", key.kind.Name, "name", key.name, "err", err)
		}
	}
	s.index.setPod(eventRecord(e))
}

func (s podSink) Remove(e registry.WatchEvent) {
	if pod := e.Object.(*corev1.Pod); pod.Spec.NodeName != "" {
		s.index.removePod(eventRecord(e))
	}
}

func (s podSink) Retain(_ context.Context, uids map[types.UID]struct{}, _ string) {
	for _, r := range s.index.podsBut(uids) {
		s.index.removePod(r)
	}
	s.index.syncedOnce.Do(func() { close(s.index.synced) })
}

// nameObjects makes these the objects that a pod of the node names, and returns
// those that it had not named before. The pod itself may still be to come.
func (x *index) nameObjects(node string, uid types.UID, refs references) (added []objectKey) {
	x.mu.Lock()
	defer x.mu.Unlock()
	n := x.node(node)
	entry := n.pods[uid]
	for key := range refs {
		if _, ok := entry.references[key]; !ok {
			x.addReference(node, key)
			added = append(added, key)
		}
	}
	for key := range entry.references {
		if _, ok := refs[key]; !ok {
			x.dropReference(node, key)
		}
	}
	entry.references = refs
	n.pods[uid] = entry
	return added
}

func (x *index) setPod(r record) {
	x.mu.Lock()
	defer x.mu.Unlock()
	pod := r.pod()
	n := x.nodes[pod.Spec.NodeName]
	entry := n.pods[pod.UID]
	entry.record = r
	n.pods[pod.UID] = entry
	for f := range n.followers {
		f.pods.changed(pod.UID)
	}
}

// removePod takes away a pod, of which this is the last that is known.
func (x *index) removePod(last record) {
	x.mu.Lock()
	defer x.mu.Unlock()
	node, uid := last.pod().Spec.NodeName, last.pod().UID
	n := x.nodes[node]
	if n == nil {
		return
	}
	entry := n.pods[uid]
	delete(n.pods, uid)
	for f := range n.followers {
		f.podGone(uid, last)
	}
	for key := range entry.references {
		x.dropReference(node, key)
	}
	x.dropIfEmpty(node)
}

// podsBut returns all pods whose UID is not in the set.
func (x *index) podsBut(uids map[types.UID]struct{}) []record {
	x.mu.RLock()
	defer x.mu.RUnlock()
	var others []record
	for _, n := range x.nodes {
		for uid, p := range n.pods {
			if _, ok := uids[uid]; !ok && p.exists() {
				others = append(others, p.record)
			}
		}
	}
	return others
}
