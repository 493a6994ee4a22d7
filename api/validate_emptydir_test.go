// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// anEmptyDir makes the pod's first volume an emptyDir.
func anEmptyDir(medium corev1.StorageMedium, limit string) change {
	return func(p *corev1.Pod, _ *corev1.Container) {
		q := resource.MustParse(limit)
		p.Spec.Volumes[0].EmptyDir = &corev1.EmptyDirVolumeSource{Medium: medium, SizeLimit: &q}
	}
}

func emptyDirMode(mode int32) change {
	return func(p *corev1.Pod, _ *corev1.Container) { p.Spec.Volumes[0].EmptyDir.Mode = &mode }
}

func fsGroupChange(policy corev1.PodFSGroupChangePolicy) change {
	return func(p *corev1.Pod, _ *corev1.Container) { p.Spec.SecurityContext.FSGroupChangePolicy = &policy }
}

func TestEmptyDirs(t *testing.T) {
	testAccepted(t, map[string]change{
		"on disk":            anEmptyDir("", "1Mi"),
		"in memory":          anEmptyDir("Memory", "1Mi"),
		"huge pages":         anEmptyDir("HugePages", "0"),
		"sized huge pages":   anEmptyDir("HugePages-2Mi", "1Gi"),
		"a limit of nothing": anEmptyDir("", "0"),
		"a mode":             emptyDirMode(0o1777),
		"change of group":    fsGroupChange(corev1.FSGroupChangeOnRootMismatch),
	})
	const medium, limit = "spec.volumes[0].emptyDir.medium", "spec.volumes[0].emptyDir.sizeLimit"
	testRefused(t, map[string]refused{
		"unknown":          {anEmptyDir("Tape", "0"), medium, `Unsupported value: "Tape": supported values: "", "Memory", "HugePages", "HugePages-<size>"`},
		"pages of nothing": {anEmptyDir("HugePages-0", "0"), medium, "Unsupported value"},
		"pages of no size": {anEmptyDir("HugePages-big", "0"), medium, "Unsupported value"},
		"mode":             {emptyDirMode(0o2777), "spec.volumes[0].emptyDir.mode", "must be a number between 0 and 01777 (octal)"},
		"change of group":  {fsGroupChange("Sometimes"), "spec.securityContext.fsGroupChangePolicy", "Unsupported value"},
		"negative":         {anEmptyDir("", "-1"), limit, "Forbidden: SizeLimit field must be a valid resource quantity"},
	})
}
