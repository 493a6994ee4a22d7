// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// validateEphemeral looks at the containers that were added to a pod to look into it.
// names are those of all its other containers.
func validateEphemeral(list []corev1.EphemeralContainer, volumes, names sets.Set[string], path *field.Path) (errs field.ErrorList) {
	all := names.Clone()
	for i := range list {
		e, at := &list[i], path.Index(i)
		c := (*corev1.Container)(&e.EphemeralContainerCommon)
		errs = append(errs, validateContainer(c, volumes, at)...)
		errs = append(errs, forbidden(notEphemeral(c), at, "cannot be set for an Ephemeral Container")...)
		if all.Has(e.Name) && e.Name != "" {
			errs = append(errs, field.Duplicate(at.Child("name"), e.Name))
		}
		all.Insert(e.Name)
		if e.TargetContainerName != "" && !names.Has(e.TargetContainerName) {
			errs = append(errs, field.NotFound(at.Child("targetContainerName"), e.TargetContainerName))
		}
	}
	return errs
}

// setField is a field of a container and whether the container has it.
type setField struct {
	name string
	set  bool
}

// forbidden refuses the fields that are set.
func forbidden(fields []setField, path *field.Path, why string) (errs field.ErrorList) {
	for _, f := range fields {
		if f.set {
			errs = append(errs, field.Forbidden(path.Child(f.name), why))
		}
	}
	return errs
}

// notEphemeral are the fields of containers that pods are built on: nobody is to rely
// on one that was added by hand.
func notEphemeral(c *corev1.Container) []setField {
	fields := []setField{
		{"ports", len(c.Ports) > 0},
		{"resources", len(c.Resources.Limits)+len(c.Resources.Requests) > 0},
		{"resizePolicy", len(c.ResizePolicy) > 0},
		{"restartPolicy", c.RestartPolicy != nil},
		{"restartPolicyRules", len(c.RestartPolicyRules) > 0},
		{"livenessProbe", c.LivenessProbe != nil},
		{"readinessProbe", c.ReadinessProbe != nil},
		{"startupProbe", c.StartupProbe != nil},
		{"lifecycle", c.Lifecycle != nil},
	}
	for i, m := range c.VolumeMounts {
		fields = append(fields,
			setField{fmt.Sprintf("volumeMounts[%d].subPath", i), m.SubPath != ""},
			setField{fmt.Sprintf("volumeMounts[%d].subPathExpr", i), m.SubPathExpr != ""})
	}
	return fields
}

// ValidateEphemeralUpdate returns what is wrong with the ephemeral containers of a pod
// that shall replace old: they can only be added to.
func ValidateEphemeralUpdate(_ *Kind, obj, replaced Object) field.ErrorList {
	if errs := poison(obj); len(errs) > 0 {
		return errs
	}
	pod, old := obj.(*corev1.Pod), replaced.(*corev1.Pod)
	path := field.NewPath("spec", "ephemeralContainers")
	errs := validateContent(pod)
	now := map[string]*corev1.EphemeralContainer{}
	for i := range pod.Spec.EphemeralContainers {
		now[pod.Spec.EphemeralContainers[i].Name] = &pod.Spec.EphemeralContainers[i]
	}
	for i := range old.Spec.EphemeralContainers {
		before := &old.Spec.EphemeralContainers[i]
		switch after, ok := now[before.Name]; {
		case !ok:
			errs = append(errs, field.Forbidden(path, fmt.Sprintf("existing ephemeral containers %q may not be removed", before.Name)))
		case !apiequality.Semantic.DeepEqual(before, after):
			errs = append(errs, field.Forbidden(path, fmt.Sprintf("existing ephemeral containers %q may not be changed", before.Name)))
		}
	}
	return errs
}
