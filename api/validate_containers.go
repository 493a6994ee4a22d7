// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// validateContainers looks at the containers of all kinds, whose names are one set.
func validateContainers(spec *corev1.PodSpec, volumes sets.Set[string], path *field.Path) (errs field.ErrorList) {
	if len(spec.Containers) == 0 {
		errs = append(errs, field.Required(path.Child("containers"), ""))
	}
	names := sets.New[string]()
	for _, list := range []struct {
		path       *field.Path
		containers []corev1.Container
		validate   func(*corev1.Container, *corev1.PodSpec, *field.Path) field.ErrorList
	}{
		{path.Child("initContainers"), spec.InitContainers, validateInitContainer},
		{path.Child("containers"), spec.Containers, validateLongRunning},
	} {
		for i := range list.containers {
			c, at := &list.containers[i], list.path.Index(i)
			errs = append(errs, validateContainer(c, volumes, at)...)
			errs = append(errs, list.validate(c, spec, at)...)
			errs = append(errs, validateResizePolicy(c.ResizePolicy, spec.RestartPolicy, at.Child("resizePolicy"))...)
			if names.Has(c.Name) && c.Name != "" {
				errs = append(errs, field.Duplicate(at.Child("name"), c.Name))
			}
			names.Insert(c.Name)
		}
	}
	return append(errs, validateEphemeral(spec.EphemeralContainers, volumes, names, path.Child("ephemeralContainers"))...)
}

// validateLongRunning looks at what only a container has that is to run on: a regular
// one, or a sidecar.
func validateLongRunning(c *corev1.Container, spec *corev1.PodSpec, path *field.Path) field.ErrorList {
	errs := validateRestart(c, path)
	errs = append(errs, validateLifecycle(c.Lifecycle, spec, path.Child("lifecycle"))...)
	return append(errs, validateProbes(c, path)...)
}

// validateInitContainer keeps from an init container what it does not run long enough
// for.
func validateInitContainer(c *corev1.Container, spec *corev1.PodSpec, path *field.Path) (errs field.ErrorList) {
	if IsSidecar(c) {
		return validateLongRunning(c, spec, path)
	}
	errs = validateRestart(c, path)
	return append(errs, forbidden([]setField{
		{"lifecycle", c.Lifecycle != nil},
		{"livenessProbe", c.LivenessProbe != nil},
		{"readinessProbe", c.ReadinessProbe != nil},
		{"startupProbe", c.StartupProbe != nil},
	}, path, "may not be set for init containers without restartPolicy=Always")...)
}
