// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// validateHostPorts looks at what the pod's containers take of their node's ports.
// Those that run at once take theirs together, while each init container runs alone.
func validateHostPorts(spec *corev1.PodSpec) (errs field.ErrorList) {
	together, long := sets.New[string](), LongRunning(spec)
	eachContainer(spec, func(c *corev1.Container, path *field.Path) {
		taken := together
		if !slices.Contains(long, c) {
			taken = sets.New[string]()
		}
		errs = append(errs, takeHostPorts(taken, c.Ports, path.Child("ports"))...)
		if spec.HostNetwork {
			errs = append(errs, validateNetworkPorts(c.Ports, path.Child("ports"))...)
		}
	})
	return errs
}

func takeHostPorts(taken sets.Set[string], ports []corev1.ContainerPort, path *field.Path) (errs field.ErrorList) {
	for i, p := range ports {
		if p.HostPort == 0 {
			continue
		}
		key := fmt.Sprintf("%s/%s/%d", p.Protocol, p.HostIP, p.HostPort)
		if taken.Has(key) {
			errs = append(errs, field.Duplicate(path.Index(i).Child("hostPort"), key))
		}
		taken.Insert(key)
	}
	return errs
}

// validateNetworkPorts: in the node's network a port is the node's.
func validateNetworkPorts(ports []corev1.ContainerPort, path *field.Path) (errs field.ErrorList) {
	for i, p := range ports {
		if p.HostPort != p.ContainerPort {
			errs = append(errs, field.Invalid(path.Index(i).Child("hostPort"), p.HostPort, "must match `containerPort` when `hostNetwork` is true"))
		}
	}
	return errs
}
