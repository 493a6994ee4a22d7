// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package dispatch

import (
	"context"
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// index holds the pods of each node and the objects that they name. Those who
// follow a node are told what changed; they never hold up the index.
type index struct {
	// synced is closed when all pods that existed have been seen.
	synced     chan struct{}
	syncedOnce sync.Once

	mu    sync.RWMutex
	nodes map[string]*nodeIndex
	// objects has the objects that any pod names.
	objects map[objectKey]*namedObject
}

// nodeIndex is what concerns one node. It exists while the node has a pod or a
// follower.
type nodeIndex struct {
	pods map[types.UID]podEntry
	// named counts the node's pods that name an object.
	named     map[objectKey]int
	followers map[*follower]struct{}
}

// podEntry is a pod and what it names. The record is empty until what it names
// has been read.
type podEntry struct {
	record
	references references
}

// namedObject is an object that pods of some nodes name. While it does not exist
// its record has no object, and the version as of which it is gone, if known.
type namedObject struct {
	record
	nodes map[string]struct{}
}

func newIndex() *index {
	return &index{
		synced:  make(chan struct{}),
		nodes:   map[string]*nodeIndex{},
		objects: map[objectKey]*namedObject{},
	}
}

// wait returns when all pods that exist are in the index.
func (x *index) wait(ctx context.Context) error {
	select {
	case <-x.synced:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// follow makes f follow the node. It returns what the node has now; of what
// changes from then on, f is told.
func (x *index) follow(node string, f *follower) (pods []record, objects []objectKey) {
	x.mu.Lock()
	defer x.mu.Unlock()
	n := x.node(node)
	n.followers[f] = struct{}{}
	for _, p := range n.pods {
		if p.exists() {
			pods = append(pods, p.record)
		}
	}
	for key := range n.named {
		objects = append(objects, key)
	}
	return pods, objects
}

func (x *index) unfollow(node string, f *follower) {
	x.mu.Lock()
	defer x.mu.Unlock()
	delete(x.nodes[node].followers, f)
	x.dropIfEmpty(node)
}

// pod returns the node's pod of that UID, or an empty record.
func (x *index) pod(node string, uid types.UID) record {
	x.mu.RLock()
	defer x.mu.RUnlock()
	if n := x.nodes[node]; n != nil {
		return n.pods[uid].record
	}
	return record{}
}

// object returns an object that a pod of the node names; an empty record if none
// does or it does not exist.
func (x *index) object(node string, key objectKey) record {
	x.mu.RLock()
	defer x.mu.RUnlock()
	if n := x.nodes[node]; n != nil && n.named[key] > 0 {
		return x.objects[key].record
	}
	return record{}
}

func (x *index) node(name string) *nodeIndex {
	n := x.nodes[name]
	if n == nil {
		n = &nodeIndex{
			pods:      map[types.UID]podEntry{},
			named:     map[objectKey]int{},
			followers: map[*follower]struct{}{},
		}
		x.nodes[name] = n
	}
	return n
}

func (x *index) dropIfEmpty(name string) {
	if n := x.nodes[name]; len(n.pods) == 0 && len(n.followers) == 0 {
		delete(x.nodes, name)
	}
}
