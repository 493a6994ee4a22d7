// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"reflect"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// TestEachRefusedFieldHasOneError sets each field that docs/pod-fields.md calls refused,
// or limited to some values, in an otherwise valid pod: the answer is one error, with
// the field's path and the reason of the document.
func TestEachRefusedFieldHasOneError(t *testing.T) {
	refusals := 0
	for _, f := range documentedFields() {
		if !f.refuses() {
			continue
		}
		refusals++
		t.Run(f.path, func(t *testing.T) {
			pod := podForField(f.path)
			at := fillField(t, &pod.Spec, f.path)
			errs := validatePlaced(pod)
			if len(errs) != 1 || errs[0].Type != field.ErrorTypeForbidden || errs[0].Field != at || errs[0].Detail != f.reason() {
				t.Errorf("got %v, want only that %s is forbidden: %s", errs, at, f.reason())
			}
		})
	}
	if refusals < 50 {
		t.Errorf("only %d refusals were found", refusals)
	}
}

// TestEachListedValueIsAccepted: the values that docs/pod-fields.md shows are taken.
func TestEachListedValueIsAccepted(t *testing.T) {
	for _, f := range documentedFields() {
		if f.rule == nil {
			continue
		}
		for _, value := range f.rule.values {
			pod := podForField(f.path)
			target, _ := fieldAt(t, reflect.ValueOf(&pod.Spec).Elem(), f.path)
			alloc(target).Set(reflect.ValueOf(value))
			if errs := validatePlaced(pod); len(errs) > 0 {
				t.Errorf("%s: %v: %v", f.path, value, errs)
			}
		}
	}
}

func (f documentedField) refuses() bool {
	return f.rule == nil || f.rule.refuse != "" || f.rule.values != nil
}

func (f documentedField) reason() string {
	switch {
	case f.rule == nil:
		return notHonoured
	case f.rule.refuse != "":
		return f.rule.refuse
	}
	return "this value is " + notHonoured
}

// podForField is a valid pod with containers of all kinds, whose one volume is of the
// kind that the field is of.
func podForField(path string) *corev1.Pod {
	container := func(name string) corev1.Container {
		return corev1.Container{Name: name, Image: "app:1", VolumeMounts: []corev1.VolumeMount{{Name: "data", MountPath: "/data"}}}
	}
	source, _, _ := strings.Cut(strings.TrimPrefix(path, volumeList), ".")
	pod := validPod()
	pod.Spec = corev1.PodSpec{
		InitContainers:      []corev1.Container{container("init")},
		Containers:          []corev1.Container{container("app")},
		EphemeralContainers: []corev1.EphemeralContainer{{EphemeralContainerCommon: corev1.EphemeralContainerCommon(container("debug"))}},
		Volumes:             []corev1.Volume{{Name: "data", VolumeSource: sourceNamed(source)}},
	}
	return pod
}

// sourceNamed is a valid source of that kind; of a kind that is refused as a whole, none.
func sourceNamed(name string) corev1.VolumeSource {
	object := corev1.LocalObjectReference{Name: "object"}
	switch name {
	case "configMap":
		return corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: object}}
	case "secret":
		return corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: object.Name}}
	}
	return corev1.VolumeSource{}
}

// validatePlaced validates a pod to which its ephemeral containers were added.
func validatePlaced(pod *corev1.Pod) field.ErrorList {
	Default(pod)
	old := pod.DeepCopy()
	old.Spec.EphemeralContainers = nil
	return ValidateEphemeralUpdate(Pods, pod, old)
}

// fillField sets the field and all that lies below it, and returns its path.
func fillField(t *testing.T, spec *corev1.PodSpec, path string) string {
	t.Helper()
	target, at := fieldAt(t, reflect.ValueOf(spec).Elem(), path)
	fill(target)
	return at.String()
}

// fieldAt leads to a field of the first elements of lists.
func fieldAt(t *testing.T, v reflect.Value, path string) (reflect.Value, *field.Path) {
	t.Helper()
	at := field.NewPath("spec")
	for name := range strings.SplitSeq(path, ".") {
		name, list := strings.CutSuffix(name, "[]")
		next, ok := fieldByJSON(alloc(v), name)
		if !ok {
			t.Fatalf("there is no field %s in %s", name, v.Type())
		}
		v, at = next, at.Child(name)
		if list {
			v, at = firstElement(v), at.Index(0)
		}
	}
	return v, at
}

// alloc makes a nil pointer point to something, and returns that.
func alloc(v reflect.Value) reflect.Value {
	if v.Kind() != reflect.Pointer {
		return v
	}
	if v.IsNil() {
		v.Set(reflect.New(v.Type().Elem()))
	}
	return v.Elem()
}

func firstElement(list reflect.Value) reflect.Value {
	if list.Len() == 0 {
		list.Set(reflect.MakeSlice(list.Type(), 1, 1))
	}
	return list.Index(0)
}

func fieldByJSON(v reflect.Value, name string) (reflect.Value, bool) {
	for i := range v.NumField() {
		switch jsonName(v.Type().Field(i)) {
		case name:
			return v.Field(i), true
		case "": // inlined
			if found, ok := fieldByJSON(v.Field(i), name); ok {
				return found, true
			}
		}
	}
	return reflect.Value{}, false
}

// fill sets a value and all that lies below it to something that says something.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		fill(alloc(v))
	case reflect.Slice:
		fill(firstElement(v))
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(key)
		fill(value)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.String:
		v.SetString("something")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int32, reflect.Int64:
		v.SetInt(3)
	case reflect.Struct:
		fillStruct(v)
	}
}

func fillStruct(v reflect.Value) {
	switch v.Type() {
	case quantityType:
		v.Set(reflect.ValueOf(resource.MustParse("3")))
		return
	case timeType, microTimeType:
		return
	}
	for i := range v.NumField() {
		fill(v.Field(i))
	}
}
