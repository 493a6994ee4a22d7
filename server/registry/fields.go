// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"cmp"
	"fmt"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/berth-run/berth/api"
	"github.com/berth-run/berth/api/openapi"
)

// scope is which part of an object a write is about: the rest of what it says is
// dropped, and owned by nobody.
type scope string

const (
	wholeObject         scope = "" // but for the status, where the kind has one apart
	statusOnly          scope = "status"
	ephemeralContainers scope = "ephemeralcontainers"
	resizeOnly          scope = "resize"
)

// scopeOf returns what a subresource of the kind is about; empty is the object.
func scopeOf(k *api.Kind, subresource string) (scope, error) {
	switch s := scope(subresource); {
	case s == wholeObject, s == statusOnly && k.Status, (s == ephemeralContainers || s == resizeOnly) && k == api.Pods:
		return s, nil
	}
	return "", apierrors.NewMethodNotSupported(k.GroupResource(), "patch "+subresource)
}

// Managers that own what an object had before it was first applied.
const (
	beforeFirstApply  = "before-first-apply"
	kubectlClientSide = "kubectl-client-side-apply"
)

// defaultManager is one of whom no name is known.
const defaultManager = "unknown"

// fieldOwners keep who said which field of an object (metadata.managedFields),
// as server-side apply needs it (KEP-555). They begin with an object's first
// apply: until then nobody asks, and the record would cost each write more than
// the write itself. What reports of agents set is not recorded.
//
// The schema behind it is large, so it is loaded when it is first needed.
type fieldOwners struct {
	mu     sync.Mutex
	types  managedfields.TypeConverter
	scheme *runtime.Scheme
	// managers is nil until all is loaded.
	managers map[ownerKey]*managedfields.FieldManager
}

// emptyKind is what objects in memory have.
var emptyKind schema.GroupVersionKind

// dropKind makes an object that came from a manifest as those that are read from
// the store: with its kind it would never equal one of them, and a write that
// changes nothing would be one.
func dropKind(obj api.Object) { obj.GetObjectKind().SetGroupVersionKind(emptyKind) }

type ownerKey struct {
	kind  *api.Kind
	scope scope
}

// update brings the ownership in obj, which is to replace current, up to date. It
// changes obj.
func (f *fieldOwners) update(k *api.Kind, s scope, obj, current api.Object, manager string) error {
	if len(current.GetManagedFields()) == 0 {
		obj.SetManagedFields(nil)
		return nil
	}
	m, err := f.manager(k, s)
	if err != nil {
		return err
	}
	obj.GetObjectKind().SetGroupVersionKind(k.GroupVersionKind())
	defer dropKind(obj)
	if _, err := m.Update(api.Typed(k, current), obj, cmp.Or(manager, defaultManager)); err != nil {
		return apierrors.NewInternalError(fmt.Errorf("owners of the fields of %s %s: %w", k.Name, api.FullName(obj), err))
	}
	return nil
}

// apply returns current as the applied fields make it. current is a new object
// where there is none yet.
func (f *fieldOwners) apply(k *api.Kind, s scope, current api.Object, applied *unstructured.Unstructured, manager string, force bool) (api.Object, error) {
	m, err := f.manager(k, s)
	if err != nil {
		return nil, err
	}
	live := api.Typed(k, current)
	if len(current.GetManagedFields()) == 0 && current.GetUID() != "" {
		if live, err = f.begin(k, live); err != nil {
			return nil, err
		}
	}
	merged, err := m.Apply(live, applied, manager, force)
	if err != nil {
		return nil, applyError(err)
	}
	obj, ok := merged.(api.Object)
	if !ok {
		return nil, apierrors.NewInternalError(fmt.Errorf("an apply to %s gave a %T", k.Name, merged))
	}
	dropKind(obj)
	return obj, nil
}

// begin gives an object that was never applied its first owner. What kubectl
// applied on its own side is given to the name by which kubectl takes it over.
func (f *fieldOwners) begin(k *api.Kind, live api.Object) (api.Object, error) {
	owner := beforeFirstApply
	if _, ok := live.GetAnnotations()[corev1.LastAppliedConfigAnnotation]; ok {
		owner = kubectlClientSide
	}
	m, err := f.manager(k, wholeObject)
	if err != nil {
		return nil, err
	}
	owned := live.DeepCopyObject()
	if _, err := m.Update(api.Typed(k, k.New()), owned, owner); err != nil {
		return nil, apierrors.NewInternalError(fmt.Errorf("owners of the fields of %s %s: %w", k.Name, api.FullName(live), err))
	}
	return owned.(api.Object), nil
}

// manager returns the library's manager for a kind.
func (f *fieldOwners) manager(k *api.Kind, s scope) (*managedfields.FieldManager, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.load(); err != nil {
		return nil, apierrors.NewInternalError(fmt.Errorf("owners of fields: %w", err))
	}
	key := ownerKey{k, s}
	if m := f.managers[key]; m != nil {
		return m, nil
	}
	gvk := k.GroupVersionKind()
	m, err := managedfields.NewDefaultFieldManager(f.types, runtime.UnsafeObjectConvertor(f.scheme), f.scheme, f.scheme,
		gvk, gvk.GroupVersion(), string(s), ownable(k, s))
	if err != nil {
		return nil, apierrors.NewInternalError(fmt.Errorf("owners of fields: %w", err))
	}
	f.managers[key] = m
	return m, nil
}

func (f *fieldOwners) load() (err error) {
	if f.managers != nil {
		return nil
	}
	if f.types, err = managedfields.NewTypeConverter(openapi.Schemas(), false); err != nil {
		return err
	}
	f.scheme = runtime.NewScheme()
	for _, k := range api.Kinds {
		f.scheme.AddKnownTypeWithName(k.GroupVersionKind(), k.New())
	}
	f.managers = map[ownerKey]*managedfields.FieldManager{}
	return nil
}

// ownable leaves out the fields that a write to that scope drops.
func ownable(k *api.Kind, s scope) map[fieldpath.APIVersion]fieldpath.Filter {
	version := fieldpath.APIVersion(k.GroupVersionKind().GroupVersion().String())
	dropped := fieldpath.NewSet()
	switch {
	case s == resizeOnly:
		return map[fieldpath.APIVersion]fieldpath.Filter{version: resizable()}
	case s == statusOnly:
		dropped.Insert(fieldpath.MakePathOrDie("spec"))
		dropped.Insert(fieldpath.MakePathOrDie("metadata"))
	case k.Status:
		dropped.Insert(fieldpath.MakePathOrDie("status"))
	}
	return map[fieldpath.APIVersion]fieldpath.Filter{version: fieldpath.NewExcludeSetFilter(dropped)}
}

// resizable keeps the fields of a pod that a resize changes.
func resizable() fieldpath.Filter {
	any := fieldpath.MatchAnyPathElement()
	return fieldpath.NewIncludeMatcherFilter(
		fieldpath.MakePrefixMatcherOrDie("spec", "resources"),
		fieldpath.MakePrefixMatcherOrDie("spec", "containers", any, "resources"),
		fieldpath.MakePrefixMatcherOrDie("spec", "containers", any, "resizePolicy"),
		fieldpath.MakePrefixMatcherOrDie("spec", "initContainers", any, "resources"),
		fieldpath.MakePrefixMatcherOrDie("spec", "initContainers", any, "resizePolicy"),
	)
}

// applyError says what is wrong with an applied manifest. Conflicts are Status
// errors already; else its fields do not fit the kind.
func applyError(err error) error {
	if apierrors.ReasonForError(err) != metav1.StatusReasonUnknown {
		return err
	}
	return apierrors.NewBadRequest(strings.TrimSpace(err.Error()))
}
