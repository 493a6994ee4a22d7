// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package describe

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// environmentFrom are the objects each of whose keys is a variable.
func (p *page) environmentFrom(sources []corev1.EnvFromSource) {
	if len(sources) == 0 {
		return
	}
	var list []string
	for _, from := range sources {
		if r := from.ConfigMapRef; r != nil {
			list = append(list, "config map "+r.Name+withPrefix(from.Prefix)+optional(r.Optional))
		}
		if r := from.SecretRef; r != nil {
			list = append(list, "secret "+r.Name+withPrefix(from.Prefix)+optional(r.Optional))
		}
	}
	p.list("Environment from", list)
}

func withPrefix(prefix string) string {
	if prefix == "" {
		return ""
	}
	return " with prefix '" + prefix + "'"
}

func (p *page) environment(pod *corev1.Pod, env []corev1.EnvVar) {
	if len(env) == 0 {
		p.field("Environment", none)
		return
	}
	p.section("Environment", func() {
		for _, e := range env {
			p.field(e.Name, envValue(pod, e))
		}
	})
}

// envValue is a variable's value, or where its value is from: what a Secret holds is
// not shown.
func envValue(pod *corev1.Pod, e corev1.EnvVar) string {
	from := e.ValueFrom
	switch {
	case from == nil:
		return e.Value
	case from.SecretKeyRef != nil:
		r := from.SecretKeyRef
		return fmt.Sprintf("<set to the key '%s' in secret '%s'>%s", r.Key, r.Name, optional(r.Optional))
	case from.ConfigMapKeyRef != nil:
		r := from.ConfigMapKeyRef
		return fmt.Sprintf("<set to the key '%s' of config map '%s'>%s", r.Key, r.Name, optional(r.Optional))
	case from.FieldRef != nil:
		return strings.TrimSpace(fmt.Sprintf("%s (%s)", fieldValue(pod, from.FieldRef.FieldPath), from.FieldRef.FieldPath))
	case from.ResourceFieldRef != nil:
		return "(" + from.ResourceFieldRef.Resource + ")"
	case from.FileKeyRef != nil:
		r := from.FileKeyRef
		return fmt.Sprintf("<set to the key '%s' in file '%s' of volume '%s'>%s", r.Key, r.Path, r.VolumeName, optional(r.Optional))
	}
	return "<from elsewhere>"
}

func optional(is *bool) string {
	if is != nil && *is {
		return " (optional)"
	}
	return ""
}

// fieldValue is what a field of the pod is now, of those that containers ask for most.
func fieldValue(pod *corev1.Pod, path string) string {
	switch path {
	case "metadata.name":
		return pod.Name
	case "metadata.namespace":
		return pod.Namespace
	case "metadata.uid":
		return string(pod.UID)
	case "spec.nodeName":
		return pod.Spec.NodeName
	case "spec.serviceAccountName":
		return pod.Spec.ServiceAccountName
	case "status.podIP":
		return pod.Status.PodIP
	case "status.hostIP":
		return pod.Status.HostIP
	}
	return ""
}
