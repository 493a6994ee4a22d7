// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"
)

// quotaPrefix is how a quota names the requests of a resource: no resource begins
// so itself.
const quotaPrefix = "requests."

// IsExtendedResource tells whether a resource is one that somebody else than
// Kubernetes names and counts, such as example.com/gpu.
func IsExtendedResource(name corev1.ResourceName) bool {
	if isNativeResource(name) || strings.HasPrefix(string(name), quotaPrefix) {
		return false
	}
	return len(validation.IsQualifiedName(quotaPrefix+string(name))) == 0
}

func isNativeResource(name corev1.ResourceName) bool {
	return !strings.Contains(string(name), "/") || strings.Contains(string(name), corev1.ResourceDefaultNamespacePrefix)
}

// IsHugePages tells whether a resource is memory in pages of one size, such as
// hugepages-2Mi.
func IsHugePages(name corev1.ResourceName) bool {
	return strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix)
}

// HugePageSize is the size of the pages that the resource counts.
func HugePageSize(name corev1.ResourceName) (resource.Quantity, error) {
	return resource.ParseQuantity(strings.TrimPrefix(string(name), corev1.ResourceHugePagesPrefix))
}

// isOvercommitted tells whether containers may be promised less of a resource than
// they may use: what is counted in pieces is not shared.
func isOvercommitted(name corev1.ResourceName) bool {
	return isNativeResource(name) && !IsHugePages(name)
}

// IsHugePagesMedium tells whether an emptyDir is to lie in huge pages, of one size or
// of any.
func IsHugePagesMedium(medium corev1.StorageMedium) bool {
	return medium == corev1.StorageMediumHugePages || strings.HasPrefix(string(medium), string(corev1.StorageMediumHugePagesPrefix))
}
