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

func TestEmptyDirs(t *testing.T) {
	testAccepted(t, map[string]change{
		"on disk":            anEmptyDir("", "1Mi"),
		"in memory":          anEmptyDir("Memory", "1Mi"),
		"huge pages":         anEmptyDir("HugePages", "0"),
		"sized huge pages":   anEmptyDir("HugePages-2Mi", "1Gi"),
		"a limit of nothing": anEmptyDir("", "0"),
	})
	const medium, limit = "spec.volumes[0].emptyDir.medium", "spec.volumes[0].emptyDir.sizeLimit"
	testRefused(t, map[string]refused{
		"unknown":          {anEmptyDir("Tape", "0"), medium, `Unsupported value: "Tape": supported values: "", "Memory", "HugePages", "HugePages-<size>"`},
		"pages of nothing": {anEmptyDir("HugePages-0", "0"), medium, "Unsupported value"},
		"pages of no size": {anEmptyDir("HugePages-big", "0"), medium, "Unsupported value"},
		"negative":         {anEmptyDir("", "-1"), limit, "Forbidden: SizeLimit field must be a valid resource quantity"},
	})
}
