// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// reservable is what can be kept back from pods.
var reservable = []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage}

// reservedFlag is a list of resources as a flag has it: cpu=500m,memory=1Gi.
type reservedFlag struct{ list *corev1.ResourceList }

func (f reservedFlag) Type() string { return "resources" }

func (f reservedFlag) String() string {
	if f.list == nil {
		return ""
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(*f.list)) {
		q := (*f.list)[name]
		parts = append(parts, fmt.Sprintf("%s=%s", name, q.String()))
	}
	return strings.Join(parts, ",")
}

func (f reservedFlag) Set(text string) error {
	list := corev1.ResourceList{}
	for part := range strings.SplitSeq(text, ",") {
		name, amount, _ := strings.Cut(part, "=")
		if !slices.Contains(reservable, corev1.ResourceName(name)) {
			return fmt.Errorf("resource %q: must be one of %v", name, reservable)
		}
		q, err := resource.ParseQuantity(amount)
		if err != nil || q.Sign() < 0 {
			return fmt.Errorf("%s=%s: must be an amount such as 500m or 1Gi", name, amount)
		}
		list[corev1.ResourceName(name)] = q
	}
	*f.list = list
	return nil
}
