// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package podruntime makes pods true in a CRI runtime: it decides what a pod's
// sandbox and containers need (computePodActions, a pure function of the pod and
// of what the runtime says of it) and makes the calls.
//
// It keeps no list of pods: all that it must know of a container again after a
// restart of the agent stands in the runtime, on the container itself.
//
// Labels, on sandboxes and containers; what lacks our node label is another's and
// is never touched:
//
//	berth.run/node                 the node's id
//	io.kubernetes.pod.name         the pod
//	io.kubernetes.pod.namespace
//	io.kubernetes.pod.uid
//	io.kubernetes.container.name   the container; not on sandboxes
//
// A sandbox carries the pod's own labels and annotations besides.
//
// Annotations, on containers:
//
//	io.kubernetes.container.hash                     its identity (see identity)
//	io.kubernetes.container.restartCount             how often it was made before
//	io.kubernetes.container.terminationMessagePath   where it leaves its last words
//	io.kubernetes.container.terminationMessagePolicy what they are if it leaves none
package podruntime
