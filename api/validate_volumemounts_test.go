// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

// aMount changes the first mount of the pod's container.
func aMount(do func(*corev1.VolumeMount)) change {
	return func(_ *corev1.Pod, c *corev1.Container) { do(&c.VolumeMounts[0]) }
}

func subPaths(path, expr string) change {
	return aMount(func(m *corev1.VolumeMount) { m.SubPath, m.SubPathExpr = path, expr })
}

func propagated(mode corev1.MountPropagationMode, privileged bool) change {
	return func(_ *corev1.Pod, c *corev1.Container) {
		c.SecurityContext = &corev1.SecurityContext{}
		if privileged {
			c.SecurityContext.Privileged = &privileged
		}
		c.VolumeMounts[0].MountPropagation = &mode
	}
}

func recursively(mode corev1.RecursiveReadOnlyMode, readOnly bool, propagation *corev1.MountPropagationMode) change {
	return aMount(func(m *corev1.VolumeMount) {
		m.RecursiveReadOnly, m.ReadOnly, m.MountPropagation = &mode, readOnly, propagation
	})
}

func TestVolumeMounts(t *testing.T) {
	testAccepted(t, map[string]change{
		"a part":                subPaths("a/b..c", ""),
		"a part by variables":   subPaths("", "logs/$(POD_NAME)"),
		"not propagated":        propagated(corev1.MountPropagationNone, false),
		"propagated from node":  propagated(corev1.MountPropagationHostToContainer, false),
		"propagated to node":    propagated(corev1.MountPropagationBidirectional, true),
		"read-only below":       recursively(corev1.RecursiveReadOnlyEnabled, true, ptr.To(corev1.MountPropagationNone)),
		"read-only if possible": recursively(corev1.RecursiveReadOnlyIfPossible, true, nil),
		"not read-only below":   recursively(corev1.RecursiveReadOnlyDisabled, false, ptr.To(corev1.MountPropagationHostToContainer)),
		"another path, same name": func(_ *corev1.Pod, c *corev1.Container) {
			c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: c.VolumeMounts[0].Name, MountPath: "/other"})
		},
	})
	const at = "spec.containers[0].volumeMounts[0]."
	testRefused(t, map[string]refused{
		"absolute":       {subPaths("/a", ""), at + "subPath", "must be a relative path"},
		"leads up":       {subPaths("a/../../b", ""), at + "subPath", "must not contain '..'"},
		"expr absolute":  {subPaths("", "/$(A)"), at + "subPathExpr", "must be a relative path"},
		"expr leads up":  {subPaths("", "$(A)/.."), at + "subPathExpr", "must not contain '..'"},
		"both":           {subPaths("a", "b"), at + "subPathExpr", "subPathExpr and subPath are mutually exclusive"},
		"propagation":    {propagated("Sideways", true), at + "mountPropagation", "Unsupported value"},
		"not privileged": {propagated(corev1.MountPropagationBidirectional, false), at + "mountPropagation", "Bidirectional mount propagation is available only to privileged containers"},
		"read-only mode": {recursively("Perhaps", true, nil), at + "recursiveReadOnly", "Unsupported value"},
		"writable":       {recursively(corev1.RecursiveReadOnlyEnabled, false, nil), at + "recursiveReadOnly", "may only be specified when readOnly is true"},
		"propagated": {recursively(corev1.RecursiveReadOnlyIfPossible, true, ptr.To(corev1.MountPropagationHostToContainer)), at + "recursiveReadOnly",
			"may only be specified when mountPropagation is None or not specified"},
	})
}
