// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func validateProjectedVolume(v *corev1.ProjectedVolumeSource, fldPath *field.Path) field.ErrorList {
	errs := validateMode(v.DefaultMode, fldPath.Child("defaultMode"))
	p := projection{paths: sets.New[string]()}
	for i := range v.Sources {
		errs = append(errs, p.validateSource(&v.Sources[i], fldPath.Child("sources").Index(i))...)
	}
	return errs
}

// projection has the paths that the sources before one show a file at.
type projection struct {
	paths sets.Set[string]
}

// validateSource looks at the kinds that are honoured; the table of fields refuses
// the others.
func (p projection) validateSource(s *corev1.VolumeProjection, fldPath *field.Path) (errs field.ErrorList) {
	sources := 0
	add := func(name string, sourceErrs func(*field.Path) field.ErrorList) {
		at := fldPath.Child(name)
		if sources++; sources > 1 {
			errs = append(errs, field.Forbidden(at, "may not specify more than 1 volume type"))
			return
		}
		errs = append(errs, sourceErrs(at)...)
	}
	if c := s.Secret; c != nil {
		add("secret", func(at *field.Path) field.ErrorList { return p.validateObject(c.Name, c.Items, at) })
	}
	if c := s.ConfigMap; c != nil {
		add("configMap", func(at *field.Path) field.ErrorList { return p.validateObject(c.Name, c.Items, at) })
	}
	if d := s.DownwardAPI; d != nil {
		add("downwardAPI", func(at *field.Path) field.ErrorList { return p.validateDownward(d.Items, at.Child("items")) })
	}
	if t := s.ServiceAccountToken; t != nil {
		add("serviceAccountToken", func(at *field.Path) field.ErrorList { return p.validateToken(t, at) })
	}
	return errs
}

func (p projection) validateToken(t *corev1.ServiceAccountTokenProjection, fldPath *field.Path) field.ErrorList {
	errs := validateTokenSeconds(t.ExpirationSeconds, fldPath.Child("expirationSeconds"))
	errs = append(errs, requiredOr(fldPath.Child("path"), t.Path, checkItemPath)...)
	return append(errs, p.take(t.Path, fldPath.Child("path"))...)
}

func (p projection) validateObject(name string, items []corev1.KeyToPath, fldPath *field.Path) field.ErrorList {
	errs := requiredOr(fldPath.Child("name"), name, validation.IsDNS1123Subdomain)
	errs = append(errs, validateItems(items, fldPath.Child("items"))...)
	for i := range items {
		errs = append(errs, p.take(items[i].Path, fldPath.Child("items").Index(i).Child("path"))...)
	}
	return errs
}

func (p projection) validateDownward(items []corev1.DownwardAPIVolumeFile, fldPath *field.Path) field.ErrorList {
	errs := validateDownwardFiles(items, fldPath)
	for i := range items {
		errs = append(errs, p.take(items[i].Path, fldPath.Index(i).Child("path"))...)
	}
	return errs
}

// take refuses a path that a file is at already.
func (p projection) take(path string, fldPath *field.Path) field.ErrorList {
	if path != "" && p.paths.Has(path) {
		return field.ErrorList{field.Invalid(fldPath, path, "conflicting duplicate paths")}
	}
	p.paths.Insert(path)
	return nil
}
