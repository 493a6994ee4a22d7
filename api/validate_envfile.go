// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func validateFileKeyRef(ref *corev1.FileKeySelector, path *field.Path) field.ErrorList {
	errs := requiredOr(path.Child("volumeName"), ref.VolumeName, validation.IsDNS1123Label)
	errs = append(errs, requiredOr(path.Child("path"), ref.Path, checkItemPath)...)
	return append(errs, requiredOr(path.Child("key"), ref.Key, validation.IsRelaxedEnvVarName)...)
}

// validateFileKeyVolumes looks for the volumes that environment files are in: what
// containers write, they write into an emptyDir.
func validateFileKeyVolumes(spec *corev1.PodSpec) (errs field.ErrorList) {
	isEmptyDir := make(map[string]bool, len(spec.Volumes))
	for i := range spec.Volumes {
		isEmptyDir[spec.Volumes[i].Name] = spec.Volumes[i].EmptyDir != nil
	}
	eachContainer(spec, func(c *corev1.Container, path *field.Path) {
		for i, e := range c.Env {
			if e.ValueFrom == nil || e.ValueFrom.FileKeyRef == nil || e.ValueFrom.FileKeyRef.VolumeName == "" {
				continue
			}
			at, name := path.Child("env").Index(i).Child("valueFrom", "fileKeyRef", "volumeName"), e.ValueFrom.FileKeyRef.VolumeName
			switch empty, found := isEmptyDir[name]; {
			case !found:
				errs = append(errs, field.NotFound(at, name))
			case !empty:
				errs = append(errs, field.Invalid(at, name, "referenced volume must be of type emptyDir"))
			}
		}
	})
	return errs
}
