// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Fields of a pod that its containers may ask for, in their environment and in the
// files of a volume.
var (
	envFieldPaths = []string{
		"metadata.name", "metadata.namespace", "metadata.uid", "metadata.labels['<KEY>']", "metadata.annotations['<KEY>']",
		"spec.nodeName", "spec.serviceAccountName", "status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs",
	}
	volumeFieldPaths = []string{
		"metadata.name", "metadata.namespace", "metadata.uid", "metadata.labels", "metadata.annotations",
		"metadata.labels['<KEY>']", "metadata.annotations['<KEY>']",
	}
)

// validateFieldRef allows the given paths; of those with a key, any key.
func validateFieldRef(ref *corev1.ObjectFieldSelector, allowed []string, path *field.Path) field.ErrorList {
	errs := oneOf(path.Child("apiVersion"), ref.APIVersion, "v1")
	at := path.Child("fieldPath")
	switch parent, key, _ := subscript(ref.FieldPath); parent {
	case "metadata.labels":
		return append(errs, invalidAll(at, ref.FieldPath, validation.IsQualifiedName(key))...)
	case "metadata.annotations": // whose keys may be in any case
		return append(errs, invalidAll(at, ref.FieldPath, validation.IsQualifiedName(strings.ToLower(key)))...)
	}
	return append(errs, oneOf(at, ref.FieldPath, allowed...)...)
}

var containerResourcePaths = []string{
	"limits.cpu", "limits.ephemeral-storage", "limits.memory", "requests.cpu", "requests.ephemeral-storage", "requests.memory",
}

// validateResourceFieldRef looks at a reference from a container's environment, or
// from a volume, which must say whose resources it means.
func validateResourceFieldRef(ref *corev1.ResourceFieldSelector, fromVolume bool, path *field.Path) field.ErrorList {
	at := path.Child("resource")
	switch {
	case fromVolume && ref.ContainerName == "":
		return field.ErrorList{field.Required(path.Child("containerName"), "")}
	case ref.Resource == "":
		return field.ErrorList{field.Required(at, "")}
	case !isContainerResource(ref.Resource):
		return field.ErrorList{field.NotSupported(at, ref.Resource, containerResourcePaths)}
	}
	return validateDivisor(ref, path.Child("divisor"))
}

func isContainerResource(path string) bool {
	return slices.Contains(containerResourcePaths, path) ||
		strings.HasPrefix(path, "limits."+corev1.ResourceHugePagesPrefix) || strings.HasPrefix(path, "requests."+corev1.ResourceHugePagesPrefix)
}

var (
	cpuDivisors  = []string{"1m", "1"}
	byteDivisors = []string{"1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei"}
)

func validateDivisor(ref *corev1.ResourceFieldSelector, path *field.Path) field.ErrorList {
	name := ref.Resource[strings.Index(ref.Resource, ".")+1:]
	divisors, listed, kind := byteDivisors, strings.Join(byteDivisors, ", "), name
	switch {
	case name == string(corev1.ResourceCPU):
		divisors, listed = cpuDivisors, strings.Join(cpuDivisors, " and ")
	case name == string(corev1.ResourceEphemeralStorage):
		kind = "local ephemeral storage"
	case strings.HasPrefix(name, corev1.ResourceHugePagesPrefix):
		kind = "hugepages"
	}
	if ref.Divisor.IsZero() || slices.Contains(divisors, ref.Divisor.String()) {
		return nil
	}
	return field.ErrorList{field.Invalid(path, ref.Divisor.String(),
		fmt.Sprintf("only divisor's values %s are supported with the %s resource", listed, kind))}
}
