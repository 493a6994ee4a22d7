// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package dispatch

import (
	"context"

	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-run/berth/api"
	"github.com/berth-run/berth/server/registry"
)

// objectSink keeps the objects of one kind that pods name.
type objectSink struct {
	index *index
	kind  *api.Kind
}

func (s objectSink) Set(_ context.Context, e registry.WatchEvent) {
	s.index.setObject(s.key(e.Object), eventRecord(e))
}

func (s objectSink) Remove(e registry.WatchEvent) {
	s.index.setObject(s.key(e.Object), record{version: versionOf(e.Object)})
}

func (s objectSink) Retain(_ context.Context, uids map[types.UID]struct{}, resourceVersion string) {
	version := parseVersion(resourceVersion)
	for _, key := range s.index.objectsBut(s.kind, uids) {
		s.index.setObject(key, record{version: version})
	}
}

func (s objectSink) key(obj api.Object) objectKey {
	return objectKey{s.kind, obj.GetNamespace(), obj.GetName()}
}

// setObject takes in a version of an object that some pod names; without an
// object the record tells that it is gone. It is told by more than one feed, of
// which one may be behind: the newest version stays.
func (x *index) setObject(key objectKey, r record) {
	x.mu.Lock()
	defer x.mu.Unlock()
	o := x.objects[key]
	if o == nil || r.version <= o.version {
		return
	}
	o.record = r
	for node := range o.nodes {
		x.objectChanged(node, key)
	}
}

func (x *index) objectChanged(node string, key objectKey) {
	for f := range x.nodes[node].followers {
		f.objects.changed(key)
	}
}

// objectsBut returns the objects of a kind that exist, but for these.
func (x *index) objectsBut(kind *api.Kind, uids map[types.UID]struct{}) []objectKey {
	x.mu.RLock()
	defer x.mu.RUnlock()
	var others []objectKey
	for key, o := range x.objects {
		if key.kind != kind || !o.exists() {
			continue
		}
		if _, ok := uids[o.object.GetUID()]; !ok {
			others = append(others, key)
		}
	}
	return others
}

// addReference counts one more pod of the node that names the object.
func (x *index) addReference(node string, key objectKey) {
	n := x.nodes[node]
	n.named[key]++
	if n.named[key] > 1 {
		return
	}
	o := x.objects[key]
	if o == nil {
		o = &namedObject{nodes: map[string]struct{}{}}
		x.objects[key] = o
	}
	o.nodes[node] = struct{}{}
	if o.exists() {
		x.objectChanged(node, key)
	}
}

// dropReference counts one pod less.
func (x *index) dropReference(node string, key objectKey) {
	n := x.nodes[node]
	n.named[key]--
	if n.named[key] > 0 {
		return
	}
	delete(n.named, key)
	for f := range n.followers {
		f.objects.gone(key)
	}
	o := x.objects[key]
	delete(o.nodes, node)
	if len(o.nodes) == 0 {
		delete(x.objects, key)
	}
}
