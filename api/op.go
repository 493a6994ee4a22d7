// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
)

// Op says what a change of a pod's record means to the node that runs it. The
// numbers are those of the wire.
type Op int

// The operations. OpNone: the change means nothing to the node.
const (
	OpNone Op = iota
	// OpAdd: the pod is new to the node.
	OpAdd
	// OpUpdate: its spec or metadata changed.
	OpUpdate
	// OpDelete: its deletion began, or has to end sooner.
	OpDelete
	// OpRemove: its record is gone, or another pod has its name.
	OpRemove
	// OpReconcile: only the status differs.
	OpReconcile
)

func (o Op) String() string {
	return [...]string{"NONE", "ADD", "UPDATE", "DELETE", "REMOVE", "RECONCILE"}[o]
}

// OpOf returns what the change of one pod's record from before to now means to
// its node. nil stands for no record. Of two pods that had the same name one
// after the other, it tells only that the first is gone: ask again with before
// nil for the second.
func OpOf(before, now *corev1.Pod) Op {
	switch {
	case before == nil && now == nil:
		return OpNone
	case before == nil:
		return OpAdd
	case now == nil || now.UID != before.UID:
		return OpRemove
	case deletionDiffers(before, now):
		return OpDelete
	case specDiffers(before, now):
		return OpUpdate
	case !apiequality.Semantic.DeepEqual(before.Status, now.Status):
		return OpReconcile
	}
	return OpNone
}

func deletionDiffers(before, now *corev1.Pod) bool {
	if now.DeletionTimestamp == nil {
		return false
	}
	return !before.DeletionTimestamp.Equal(now.DeletionTimestamp) ||
		!apiequality.Semantic.DeepEqual(before.DeletionGracePeriodSeconds, now.DeletionGracePeriodSeconds)
}

// specDiffers compares what users write: the spec, and what of the metadata a
// container can see.
func specDiffers(before, now *corev1.Pod) bool {
	return !apiequality.Semantic.DeepEqual(before.Spec, now.Spec) ||
		!apiequality.Semantic.DeepEqual(before.Labels, now.Labels) ||
		!apiequality.Semantic.DeepEqual(before.Annotations, now.Annotations)
}
