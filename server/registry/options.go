// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package registry

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-run/berth/api"
)

// WriteOptions go with a create or update.
type WriteOptions struct {
	// Namespace is that of the request; an object without one gets it, and an
	// object with another is refused.
	Namespace string
	// DryRun does all but the write.
	DryRun bool
	// Manager is who writes, for the record of who owns which field.
	Manager string
}

// ListOptions narrow a list; they mean what the parameters of the same name mean
// in Kubernetes.
type ListOptions struct {
	LabelSelector, FieldSelector string
	// Limit bounds the number of items; 0 means no bound.
	Limit    int64
	Continue string

	ResourceVersion      string
	ResourceVersionMatch metav1.ResourceVersionMatch
}

// List is one answer of Registry.List. Its items are shared.
type List struct {
	Items []api.Object
	Meta  metav1.ListMeta
}

// WatchOptions narrow a watch.
type WatchOptions struct {
	// ResourceVersion to start after. Empty or "0": what exists now comes first,
	// as ADDED.
	ResourceVersion string
	// SendInitialEvents, where set, says whether what exists comes first, whatever
	// the ResourceVersion: then that is one that must have been reached. The bookmark
	// after it is marked as its end (KEP-3157).
	SendInitialEvents            *bool
	LabelSelector, FieldSelector string
	// Name, if set, watches the object of that name only.
	Name string
	// Bookmarks asks for BOOKMARK events: one after the objects that existed at
	// the start (where they were asked for), and then whenever the watch has been
	// idle for a while.
	Bookmarks bool
}

// PodStatus is what an agent reports of a pod.
type PodStatus struct {
	Namespace, Name string
	UID             types.UID
	Status          corev1.PodStatus
}
