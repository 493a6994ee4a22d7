// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package namespaces

import (
	"k8s.io/utils/ptr"

	"github.com/berth-run/berth/api"
)

// item is an object in a namespace that is being deleted.
type item struct {
	kind *api.Kind
	api.Object
}

// stage is the order in which content goes: nothing of a stage is deleted while
// something of an earlier one is left. Pods go first, as they may use the rest;
// events last, as they tell how it went.
func (i item) stage() int {
	switch i.kind {
	case api.Pods:
		return 0
	case api.Events:
		return 2
	}
	return 1
}

// ending tells whether the object is being deleted already, and waits for its
// agent or for finalizers.
func (i item) ending() bool {
	grace := ptr.Deref(i.GetDeletionGracePeriodSeconds(), 0)
	return i.GetDeletionTimestamp() != nil && (grace > 0 || len(i.GetFinalizers()) > 0)
}

// due returns what is to be deleted now.
func due(content []item) (items []item) {
	stage := firstStage(content)
	for _, i := range content {
		if i.stage() == stage && !i.ending() {
			items = append(items, i)
		}
	}
	return items
}

func firstStage(content []item) int {
	first := 2
	for _, i := range content {
		first = min(first, i.stage())
	}
	return first
}
