// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"fmt"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// ResourceFieldRefValue returns what of the container's resources a
// resourceFieldRef names, in units of its divisor, rounded up. A limit that the
// container does not set is what the node has for pods.
func ResourceFieldRefValue(ref *corev1.ResourceFieldSelector, c *corev1.Container, allocatable corev1.ResourceList) (string, error) {
	kind, name, _ := strings.Cut(ref.Resource, ".")
	resourceName := corev1.ResourceName(name)
	var value resource.Quantity
	switch kind {
	case "limits":
		value = c.Resources.Limits[resourceName]
		if value.IsZero() {
			value = allocatable[resourceName]
		}
	case "requests":
		value = c.Resources.Requests[resourceName]
	default:
		return "", fmt.Errorf("resourceFieldRef %q is not supported", ref.Resource)
	}
	return strconv.FormatInt(inUnits(resourceName, value, ref.Divisor), 10), nil
}

// inUnits divides by the divisor, which is 1 if it is not set. A part of a unit
// counts as one.
func inUnits(name corev1.ResourceName, value, divisor resource.Quantity) int64 {
	if divisor.Sign() <= 0 {
		divisor = *resource.NewQuantity(1, resource.DecimalSI)
	}
	if name == corev1.ResourceCPU { // whose divisor may be a thousandth
		return ceilDiv(value.MilliValue(), divisor.MilliValue())
	}
	return ceilDiv(value.Value(), divisor.Value())
}

func ceilDiv(value, divisor int64) int64 {
	quotient := value / divisor
	if value%divisor > 0 {
		quotient++
	}
	return quotient
}
