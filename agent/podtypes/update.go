// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package podtypes holds the types that the parts of the agent share: what a
// config source says of pods, and what the runtime says of them.
package podtypes

import corev1 "k8s.io/api/core/v1"

// Op says what a PodUpdate does to the pods that it carries.
type Op int

// The operations. A source sends SET with its whole set or the others with
// changes; it ends its first set with SYNCED. What comes out of the mux has
// ADD to RECONCILE only.
const (
	// SET replaces everything that the source had said.
	SET Op = iota + 1
	// ADD: new to the node.
	ADD
	// UPDATE: spec or metadata changed.
	UPDATE
	// DELETE: the deletion timestamp is set; end the pod gracefully.
	DELETE
	// REMOVE: the source no longer has the pod.
	REMOVE
	// RECONCILE: only the status differs from what the node reported.
	RECONCILE
	// SYNCED carries no pods: the source has said all that it has. Only then may
	// what it did not name be cleaned up.
	SYNCED
)

func (o Op) String() string {
	return [...]string{"NONE", "SET", "ADD", "UPDATE", "DELETE", "REMOVE", "RECONCILE", "SYNCED"}[o]
}

// Names of sources.
const (
	ServerSource = "server"
	FileSource   = "file"
	HTTPSource   = "http"
)

// PodUpdate is a set of pods of one source and what to do with them.
type PodUpdate struct {
	Op     Op
	Source string
	Pods   []*corev1.Pod
	// Store, unless empty, is that of the pods, and not the one that the node's pods
	// are of: they take no name from a pod of another store.
	Store string
}
