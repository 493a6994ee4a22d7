// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package config

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-run/berth/agent/podtypes"
)

// diff returns what it takes to get from a held pod to what its source says of
// the same UID: DELETE, UPDATE, RECONCILE, or 0 if nothing that matters to the
// node has changed.
func diff(held, said *corev1.Pod) podtypes.Op {
	switch {
	case said.DeletionTimestamp != nil && deletionChanged(held, said):
		return podtypes.DELETE
	case !equality.Semantic.DeepEqual(held.Spec, said.Spec), !sameMeta(held, said):
		return podtypes.UPDATE
	case !equality.Semantic.DeepEqual(held.Status, said.Status):
		return podtypes.RECONCILE
	}
	return 0
}

func deletionChanged(held, said *corev1.Pod) bool {
	return held.DeletionTimestamp == nil ||
		!equality.Semantic.DeepEqual(held.DeletionGracePeriodSeconds, said.DeletionGracePeriodSeconds)
}

// sameMeta compares the metadata that users write. What the server counts in it
// changes with every write, also of a status.
func sameMeta(a, b *corev1.Pod) bool {
	return equality.Semantic.DeepEqual(userMeta(a), userMeta(b))
}

func userMeta(pod *corev1.Pod) metav1.ObjectMeta {
	m := pod.ObjectMeta
	m.ResourceVersion, m.ManagedFields, m.Generation = "", nil, 0
	m.SetSelfLink("")
	return m
}

// removal returns the pod to remove: what is held, with the grace that its source
// gave last. A source may name the pod by no more than its name and UID.
func removal(held, said *corev1.Pod) *corev1.Pod {
	if said == nil || said.DeletionGracePeriodSeconds == nil {
		return held
	}
	pod := *held
	pod.DeletionGracePeriodSeconds = said.DeletionGracePeriodSeconds
	if pod.DeletionTimestamp == nil {
		pod.DeletionTimestamp = said.DeletionTimestamp
	}
	return &pod
}
