// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"path"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// validateVolumeMounts looks at where a container has the pod's volumes.
func validateVolumeMounts(c *corev1.Container, volumes sets.Set[string], fldPath *field.Path) (errs field.ErrorList) {
	paths := sets.New[string]()
	for i := range c.VolumeMounts {
		m, at := &c.VolumeMounts[i], fldPath.Index(i)
		switch {
		case m.Name == "":
			errs = append(errs, field.Required(at.Child("name"), ""))
		case !volumes.Has(m.Name):
			errs = append(errs, field.NotFound(at.Child("name"), m.Name))
		}
		errs = append(errs, requiredOr(at.Child("mountPath"), m.MountPath, checkMountPath)...)
		if paths.Has(m.MountPath) && m.MountPath != "" {
			errs = append(errs, field.Invalid(at.Child("mountPath"), m.MountPath, "must be unique"))
		}
		paths.Insert(m.MountPath)
		errs = append(errs, validateSubPaths(m, at)...)
		errs = append(errs, validatePropagation(m, c, at.Child("mountPropagation"))...)
		errs = append(errs, validateRecursiveReadOnly(m, at.Child("recursiveReadOnly"))...)
	}
	return errs
}

func checkMountPath(path string) (messages []string) {
	if !strings.HasPrefix(path, "/") {
		messages = append(messages, "must be an absolute path")
	}
	if strings.Contains(path, ":") {
		messages = append(messages, "must not contain ':'")
	}
	return append(messages, checkNUL(path)...)
}

// validateSubPaths keeps a mount inside its volume.
func validateSubPaths(m *corev1.VolumeMount, at *field.Path) field.ErrorList {
	errs := invalidAll(at.Child("subPath"), m.SubPath, checkLocalPath(m.SubPath))
	if m.SubPathExpr != "" && m.SubPath != "" {
		errs = append(errs, field.Invalid(at.Child("subPathExpr"), m.SubPathExpr, "subPathExpr and subPath are mutually exclusive"))
	}
	return append(errs, invalidAll(at.Child("subPathExpr"), m.SubPathExpr, checkLocalPath(m.SubPathExpr))...)
}

func checkLocalPath(p string) (messages []string) {
	if path.IsAbs(p) {
		messages = append(messages, "must be a relative path")
	}
	if hasBackstep(p) {
		messages = append(messages, "must not contain '..'")
	}
	return append(messages, checkNUL(p)...)
}

// validatePropagation: what a container mounts is the node's matter, too, if it is
// propagated there.
func validatePropagation(m *corev1.VolumeMount, c *corev1.Container, at *field.Path) field.ErrorList {
	if m.MountPropagation == nil {
		return nil
	}
	errs := oneOf(at, *m.MountPropagation,
		corev1.MountPropagationBidirectional, corev1.MountPropagationHostToContainer, corev1.MountPropagationNone)
	if *m.MountPropagation == corev1.MountPropagationBidirectional && !isPrivileged(c) {
		errs = append(errs, field.Forbidden(at, "Bidirectional mount propagation is available only to privileged containers"))
	}
	return errs
}

func isPrivileged(c *corev1.Container) bool {
	return c.SecurityContext != nil && c.SecurityContext.Privileged != nil && *c.SecurityContext.Privileged
}

func validateRecursiveReadOnly(m *corev1.VolumeMount, at *field.Path) field.ErrorList {
	if m.RecursiveReadOnly == nil || *m.RecursiveReadOnly == corev1.RecursiveReadOnlyDisabled {
		return nil
	}
	errs := oneOf(at, *m.RecursiveReadOnly,
		corev1.RecursiveReadOnlyDisabled, corev1.RecursiveReadOnlyEnabled, corev1.RecursiveReadOnlyIfPossible)
	if len(errs) > 0 {
		return errs
	}
	if !m.ReadOnly {
		errs = append(errs, field.Forbidden(at, "may only be specified when readOnly is true"))
	}
	if m.MountPropagation != nil && *m.MountPropagation != corev1.MountPropagationNone {
		errs = append(errs, field.Forbidden(at, "may only be specified when mountPropagation is None or not specified"))
	}
	return errs
}
