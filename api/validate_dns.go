// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// What the resolvers of usual C libraries take.
const (
	maxNameservers   = 3
	maxSearches      = 32
	maxSearchesChars = 2048
)

func validateDNS(spec *corev1.PodSpec, path *field.Path) field.ErrorList {
	errs := oneOf(path.Child("dnsPolicy"), spec.DNSPolicy,
		corev1.DNSClusterFirstWithHostNet, corev1.DNSClusterFirst, corev1.DNSDefault, corev1.DNSNone)
	at, config := path.Child("dnsConfig"), spec.DNSConfig
	if spec.DNSPolicy == corev1.DNSNone {
		switch {
		case config == nil:
			return append(errs, field.Required(at, "must provide `dnsConfig` when `dnsPolicy` is None"))
		case len(config.Nameservers) == 0:
			return append(errs, field.Required(at.Child("nameservers"), "must provide at least one DNS nameserver when `dnsPolicy` is None"))
		}
	}
	if config == nil {
		return errs
	}
	errs = append(errs, validateNameservers(config.Nameservers, at.Child("nameservers"))...)
	errs = append(errs, validateSearches(config.Searches, at.Child("searches"))...)
	for i, o := range config.Options {
		if o.Name == "" {
			errs = append(errs, field.Required(at.Child("options").Index(i), "must not be empty"))
		}
	}
	return errs
}

func validateNameservers(servers []string, path *field.Path) (errs field.ErrorList) {
	if len(servers) > maxNameservers {
		errs = append(errs, field.Invalid(path, servers, fmt.Sprintf("must not have more than %d nameservers", maxNameservers)))
	}
	for i, s := range servers {
		errs = append(errs, validation.IsValidIP(path.Index(i), s)...)
	}
	return errs
}

func validateSearches(searches []string, path *field.Path) (errs field.ErrorList) {
	if len(searches) > maxSearches {
		errs = append(errs, field.Invalid(path, searches, fmt.Sprintf("must not have more than %d search paths", maxSearches)))
	}
	if len(strings.Join(searches, " ")) > maxSearchesChars {
		errs = append(errs, field.Invalid(path, searches,
			fmt.Sprintf("must not have more than %d characters (including spaces) in the search list", maxSearchesChars)))
	}
	for i, s := range searches {
		if s != "." {
			s = strings.TrimSuffix(s, ".")
			errs = append(errs, invalidAll(path.Index(i), s, validation.IsDNS1123SubdomainWithUnderscore(s))...)
		}
	}
	return errs
}
