// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"fmt"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
)

// Place is where a pod runs, as its node knows it before its status says so.
type Place struct {
	NodeName string
	// HostIPs and PodIPs have the primary address first.
	HostIPs []string
	PodIPs  []string
}

// FieldRefValue returns the field of the pod that a fieldRef names. A label or an
// annotation that the pod does not have is empty; all of them are a line each.
func FieldRefValue(pod *corev1.Pod, path string, at Place) (string, error) {
	switch path {
	case "metadata.name":
		return pod.Name, nil
	case "metadata.namespace":
		return pod.Namespace, nil
	case "metadata.uid":
		return string(pod.UID), nil
	case "metadata.labels":
		return mapLines(pod.Labels), nil
	case "metadata.annotations":
		return mapLines(pod.Annotations), nil
	case "spec.nodeName":
		return at.NodeName, nil
	case "spec.serviceAccountName":
		return pod.Spec.ServiceAccountName, nil
	case "status.hostIP":
		return first(at.HostIPs), nil
	case "status.hostIPs":
		return strings.Join(at.HostIPs, ","), nil
	case "status.podIP":
		return first(at.PodIPs), nil
	case "status.podIPs":
		return strings.Join(at.PodIPs, ","), nil
	}
	switch parent, key, _ := subscript(path); parent {
	case "metadata.labels":
		return pod.Labels[key], nil
	case "metadata.annotations":
		return pod.Annotations[key], nil
	}
	return "", fmt.Errorf("fieldRef %q is not supported", path)
}

// subscript splits a path such as metadata.labels['key'].
func subscript(path string) (parent, key string, ok bool) {
	parent, rest, found := strings.Cut(path, "['")
	key, closed := strings.CutSuffix(rest, "']")
	if !found || !closed {
		return "", "", false
	}
	return parent, key, true
}

// mapLines shows labels or annotations, sorted.
func mapLines(m map[string]string) string {
	lines := make([]string, 0, len(m))
	for _, key := range sets.List(sets.KeySet(m)) {
		lines = append(lines, key+"="+strconv.Quote(m[key]))
	}
	return strings.Join(lines, "\n")
}

func first(all []string) string {
	if len(all) == 0 {
		return ""
	}
	return all[0]
}
