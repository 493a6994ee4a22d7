// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Memory limits of a container, in bytes. With less than MinMemory no process
// starts; below usualMinMemory what starts a container seldom has room itself.
const (
	MinMemory      = 1 << 20
	usualMinMemory = 6 << 20
)

// Warnings returns what is valid in obj but seldom meant, each with its path.
func Warnings(obj Object) []string {
	switch o := obj.(type) {
	case *corev1.Pod:
		return podWarnings(o)
	case *corev1.Node:
		return taintWarnings(o.Spec.Taints, field.NewPath("spec", "taints"))
	}
	return nil
}

// taintWarnings tells of what a taint does not do yet.
func taintWarnings(taints []corev1.Taint, path *field.Path) (out []string) {
	for i := range taints {
		if taints[i].Effect == corev1.TaintEffectNoExecute {
			out = append(out, fmt.Sprintf("%s: NoExecute keeps new pods away, but does not end those that run: delete them", path.Index(i)))
		}
	}
	return out
}

func podWarnings(pod *corev1.Pod) (out []string) {
	eachContainer(&pod.Spec, func(c *corev1.Container, path *field.Path) {
		out = append(out, resourceWarnings(c.Resources.Limits, nil, path.Child("resources", "limits"))...)
		out = append(out, resourceWarnings(c.Resources.Requests, c.Resources.Limits, path.Child("resources", "requests"))...)
		out = append(out, smallMemory(c, path)...)
		out = append(out, envWarnings(c.Env, path.Child("env"))...)
		out = append(out, portWarnings(c.Ports, path.Child("ports"))...)
	})
	out = append(out, fixedFileWarnings(pod)...)
	return out
}

// TooLittleMemory returns why no container of the pod with that little memory can
// run; empty if all can.
func TooLittleMemory(pod *corev1.Pod) (why string) {
	eachContainer(&pod.Spec, func(c *corev1.Container, path *field.Path) {
		limit, ok := c.Resources.Limits[corev1.ResourceMemory]
		if why == "" && ok && !limit.IsZero() && limit.Value() < MinMemory {
			why = fmt.Sprintf("%s: %s is less than the %s that a process needs to start%s",
				path.Child("resources", "limits").Key(string(corev1.ResourceMemory)), limit.String(), mebibytes(MinMemory), didYouMean(limit))
		}
	})
	return why
}

func eachContainer(spec *corev1.PodSpec, do func(*corev1.Container, *field.Path)) {
	for i, c := range Containers(spec) {
		do(c, containerPath(spec, i))
	}
}

// resourceWarnings finds bytes in thousandths: m, which is right for cpu, was
// taken for mega. What is told of already, as the limit that a request follows, is
// left out.
func resourceWarnings(list, told corev1.ResourceList, path *field.Path) (out []string) {
	for _, name := range []corev1.ResourceName{corev1.ResourceMemory, corev1.ResourceEphemeralStorage} {
		if q, ok := list[name]; ok && isFractional(q) && !q.Equal(told[name]) {
			out = append(out, fmt.Sprintf("%s: %q has fractional bytes%s", path.Key(string(name)), q.String(), didYouMean(q)))
		}
	}
	return out
}

func smallMemory(c *corev1.Container, path *field.Path) []string {
	limit, ok := c.Resources.Limits[corev1.ResourceMemory]
	if !ok || limit.IsZero() || isFractional(limit) || limit.Value() >= usualMinMemory {
		return nil
	}
	return []string{fmt.Sprintf("%s: %s is below the runtime's minimum of %s: the container may be killed before it runs%s",
		path.Child("resources", "limits").Key(string(corev1.ResourceMemory)), limit.String(), mebibytes(usualMinMemory), didYouMean(limit))}
}

func isFractional(q resource.Quantity) bool { return q.MilliValue()%1000 != 0 }

func mebibytes(n int64) string { return resource.NewQuantity(n, resource.BinarySI).String() }

// maxMebibyteDigits is how long a number can be that was meant in Mi: no node has
// more.
const maxMebibyteDigits = 6

// didYouMean is a remedy for a number of bytes that lacks its unit, or has one
// that is far too small.
func didYouMean(q resource.Quantity) string {
	digits := strings.TrimSuffix(q.String(), "m")
	if q.Value() >= MinMemory || len(digits) > maxMebibyteDigits || strings.Trim(digits, "0123456789.") != "" {
		return ""
	}
	return "; did you mean " + digits + "Mi?"
}

// envWarnings finds variables that a later one of the same name hides, unless it
// is made of them.
func envWarnings(env []corev1.EnvVar, path *field.Path) (out []string) {
	seen := sets.New[string]()
	for i, v := range env {
		if seen.Has(v.Name) && !strings.Contains(v.Value, "$("+v.Name+")") {
			out = append(out, fmt.Sprintf("%s: hides previous definition of %q, which may be dropped when using apply", path.Index(i), v.Name))
		}
		seen.Insert(v.Name)
	}
	return out
}

// portWarnings finds ports that are said twice.
func portWarnings(ports []corev1.ContainerPort, path *field.Path) (out []string) {
	for i, p := range ports {
		same := func(q corev1.ContainerPort) bool {
			return q.ContainerPort == p.ContainerPort && q.Protocol == p.Protocol && q.HostPort == p.HostPort && q.HostIP == p.HostIP
		}
		if first := slices.IndexFunc(ports[:i], same); first >= 0 {
			out = append(out, fmt.Sprintf("%s: duplicate port definition with %s", path.Index(i), path.Index(first)))
		}
	}
	return out
}
