// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// validateVolumes returns the names that mounts may use.
func validateVolumes(volumes []corev1.Volume, fldPath *field.Path) (names sets.Set[string], errs field.ErrorList) {
	names = sets.New[string]()
	for i := range volumes {
		v, at := &volumes[i], fldPath.Index(i)
		errs = append(errs, requiredOr(at.Child("name"), v.Name, validation.IsDNS1123Label)...)
		if names.Has(v.Name) && v.Name != "" {
			errs = append(errs, field.Duplicate(at.Child("name"), v.Name))
		}
		names.Insert(v.Name)
		errs = append(errs, validateVolumeSource(&v.VolumeSource, at)...)
	}
	return names, errs
}

// validateVolumeSource looks at the sources that are honoured; the table of
// fields refuses the others.
func validateVolumeSource(s *corev1.VolumeSource, fldPath *field.Path) (errs field.ErrorList) {
	sources := 0
	add := func(name string, sourceErrs func(*field.Path) field.ErrorList) {
		at := fldPath.Child(name)
		if sources++; sources > 1 {
			errs = append(errs, field.Forbidden(at, "may not specify more than 1 volume type"))
			return
		}
		errs = append(errs, sourceErrs(at)...)
	}
	if s.EmptyDir != nil {
		add("emptyDir", func(at *field.Path) field.ErrorList { return validateEmptyDir(s.EmptyDir, at) })
	}
	if s.HostPath != nil {
		add("hostPath", func(at *field.Path) field.ErrorList { return validateHostPath(s.HostPath, at) })
	}
	if s.ConfigMap != nil {
		add("configMap", func(at *field.Path) field.ErrorList { return validateConfigMapVolume(s.ConfigMap, at) })
	}
	if s.Secret != nil {
		add("secret", func(at *field.Path) field.ErrorList { return validateSecretVolume(s.Secret, at) })
	}
	if s.DownwardAPI != nil {
		add("downwardAPI", func(at *field.Path) field.ErrorList { return validateDownwardAPIVolume(s.DownwardAPI, at) })
	}
	if s.Image != nil {
		add("image", func(at *field.Path) field.ErrorList { return validateImageVolume(s.Image, at) })
	}
	if s.Projected != nil {
		add("projected", func(at *field.Path) field.ErrorList { return validateProjectedVolume(s.Projected, at) })
	}
	return errs
}

var hostPathTypes = []corev1.HostPathType{
	corev1.HostPathUnset, corev1.HostPathDirectoryOrCreate, corev1.HostPathDirectory, corev1.HostPathFileOrCreate,
	corev1.HostPathFile, corev1.HostPathSocket, corev1.HostPathCharDev, corev1.HostPathBlockDev,
}

func validateHostPath(h *corev1.HostPathVolumeSource, fldPath *field.Path) field.ErrorList {
	errs := requiredOr(fldPath.Child("path"), h.Path, checkHostPath)
	if h.Type != nil && !slices.Contains(hostPathTypes, *h.Type) {
		errs = append(errs, field.NotSupported(fldPath.Child("type"), *h.Type, hostPathTypes))
	}
	return errs
}

func checkHostPath(p string) (messages []string) {
	if !path.IsAbs(p) {
		messages = append(messages, "must be an absolute path")
	}
	if hasBackstep(p) {
		messages = append(messages, "must not contain '..'")
	}
	return append(messages, checkNUL(p)...)
}

func hasBackstep(p string) bool { return slices.Contains(strings.Split(p, "/"), "..") }

func validateConfigMapVolume(v *corev1.ConfigMapVolumeSource, fldPath *field.Path) field.ErrorList {
	errs := requiredOr(fldPath.Child("name"), v.Name, validation.IsDNS1123Subdomain)
	errs = append(errs, validateMode(v.DefaultMode, fldPath.Child("defaultMode"))...)
	return append(errs, validateItems(v.Items, fldPath.Child("items"))...)
}

func validateSecretVolume(v *corev1.SecretVolumeSource, fldPath *field.Path) field.ErrorList {
	errs := requiredOr(fldPath.Child("secretName"), v.SecretName, validation.IsDNS1123Subdomain)
	errs = append(errs, validateMode(v.DefaultMode, fldPath.Child("defaultMode"))...)
	return append(errs, validateItems(v.Items, fldPath.Child("items"))...)
}

func validateImageVolume(v *corev1.ImageVolumeSource, fldPath *field.Path) field.ErrorList {
	errs := requiredOr(fldPath.Child("reference"), v.Reference, checkImage)
	return append(errs, oneOf(fldPath.Child("pullPolicy"), v.PullPolicy, corev1.PullAlways, corev1.PullIfNotPresent, corev1.PullNever)...)
}

func validateMode(mode *int32, fldPath *field.Path) field.ErrorList {
	if mode == nil || (*mode >= 0 && *mode <= 0o777) {
		return nil
	}
	return field.ErrorList{field.Invalid(fldPath, *mode, "must be a number between 0 and 0777 (octal), both inclusive")}
}

func validateItems(items []corev1.KeyToPath, fldPath *field.Path) (errs field.ErrorList) {
	for i, item := range items {
		at := fldPath.Index(i)
		errs = append(errs, requiredOr(at.Child("key"), item.Key, validation.IsConfigMapKey)...)
		errs = append(errs, requiredOr(at.Child("path"), item.Path, checkItemPath)...)
		errs = append(errs, validateMode(item.Mode, at.Child("mode"))...)
	}
	return errs
}

// checkItemPath keeps a file inside its volume, and off the names that the
// volume's own links have.
func checkItemPath(p string) (messages []string) {
	if path.IsAbs(p) {
		messages = append(messages, "must be a relative path")
	}
	if hasBackstep(p) {
		messages = append(messages, "must not contain '..'")
	}
	if strings.HasPrefix(p, "..") && !strings.HasPrefix(p, "../") {
		messages = append(messages, "must not start with '..'")
	}
	return append(messages, checkNUL(p)...)
}
