// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

func TestValidateFinalizersAndOwners(t *testing.T) {
	owner := func(kind, name string) metav1.OwnerReference {
		return metav1.OwnerReference{APIVersion: "v1", Kind: kind, Name: name, UID: "u"}
	}
	controller := owner("Node", "n")
	controller.Controller = ptr.To(true)
	for name, tc := range map[string]struct {
		finalizers []string
		owners     []metav1.OwnerReference
		path       string
		words      string
	}{
		"qualified":       {finalizers: []string{"a.io/b", "c/d"}},
		"Kubernetes' own": {finalizers: []string{"kubernetes", "orphan"}},
		"unknown":         {finalizers: []string{"a.io/b", "c"}, path: "metadata.finalizers[1]", words: "neither a standard finalizer name nor is it fully qualified"},
		"no name":         {finalizers: []string{"a.io/ b"}, path: "metadata.finalizers", words: "name part must consist of"},
		"both policies":   {finalizers: []string{"orphan", "foregroundDeletion"}, path: "metadata.finalizers", words: "cannot be both set"},
		"owner":           {owners: []metav1.OwnerReference{owner("ConfigMap", "c"), controller}},
		"owner, no name":  {owners: []metav1.OwnerReference{owner("ConfigMap", "")}, path: "metadata.ownerReferences[0].name", words: "must not be empty"},
		"owned by events": {owners: []metav1.OwnerReference{owner("Event", "e")}, path: "metadata.ownerReferences[0]", words: "disallowed from being an owner"},
		"two controllers": {owners: []metav1.OwnerReference{controller, controller}, path: "metadata.ownerReferences", words: "Only one reference can have Controller set to true"},
	} {
		t.Run(name, func(t *testing.T) {
			obj := &corev1.ConfigMap{ObjectMeta: named("default")}
			obj.Finalizers, obj.OwnerReferences = tc.finalizers, tc.owners
			errs := ValidateCreate(ConfigMaps, obj)
			checkFields(t, fieldsOf(errs), tc.path)
			if tc.path != "" && !strings.Contains(errs.ToAggregate().Error(), tc.words) {
				t.Errorf("got %v, want %q", errs, tc.words)
			}
		})
	}
}

func TestFinalizersOfWhatIsBeingDeletedOnlyGo(t *testing.T) {
	held := func(finalizers ...string) *corev1.ConfigMap {
		obj := &corev1.ConfigMap{ObjectMeta: named("default")}
		obj.ResourceVersion, obj.Finalizers = "1", finalizers
		return obj
	}
	ending := func(finalizers ...string) *corev1.ConfigMap {
		obj := held(finalizers...)
		obj.DeletionTimestamp, obj.DeletionGracePeriodSeconds = &metav1.Time{}, ptr.To(int64(0))
		return obj
	}
	checkFields(t, fieldsOf(ValidateUpdate(ConfigMaps, held("a/b", "a/c"), held("a/b"))), "")
	checkFields(t, fieldsOf(ValidateUpdate(ConfigMaps, ending("a/b"), ending("a/c", "a/b"))), "")
	errs := ValidateUpdate(ConfigMaps, ending("a/c"), ending("a/b"))
	checkFields(t, fieldsOf(errs), "metadata.finalizers")
	if want := `no new finalizers can be added if the object is being deleted, found new finalizers []string{"a/c"}`; !strings.Contains(errs.ToAggregate().Error(), want) {
		t.Errorf("got %v, want %q", errs, want)
	}
}

func TestNamespacePhaseFollowsItsDeletion(t *testing.T) {
	for name, tc := range map[string]struct {
		deleted bool
		phase   corev1.NamespacePhase
		path    string
	}{
		"active":            {false, corev1.NamespaceActive, ""},
		"terminating":       {true, corev1.NamespaceTerminating, ""},
		"active for ever":   {true, corev1.NamespaceActive, "status.phase"},
		"terminating alone": {false, corev1.NamespaceTerminating, "status.phase"},
	} {
		ns := &corev1.Namespace{ObjectMeta: named(""), Status: corev1.NamespaceStatus{Phase: tc.phase}}
		if tc.deleted {
			ns.DeletionTimestamp = &metav1.Time{}
		}
		if checkFields(t, fieldsOf(ValidateStatusUpdate(Namespaces, ns, ns)), tc.path); t.Failed() {
			t.Errorf("in case %s", name)
		}
	}
}
