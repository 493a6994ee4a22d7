// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/berth-run/berth/test/internal/harness"
)

// TestB098MemoryWithTheWrongUnit warns when it is taken in, and ends with a reason
// that says so; the right one runs.
func TestB098MemoryWithTheWrongUnit(t *testing.T) {
	w := shared(t)
	limited := func(name string, limits corev1.ResourceList) []string {
		p := pod(name, app("c"))
		p.Spec.Containers[0].Resources.Limits = limits
		return w.post(harness.PodPath(w.ns, ""), p, nil)
	}
	warned := limited("milli", corev1.ResourceList{"memory": resource.MustParse("128m")})
	if len(warned) != 1 || !strings.Contains(warned[0], "fractional bytes; did you mean 128Mi?") {
		t.Errorf("128m: warned %q", warned)
	}
	if warned := limited("small", corev1.ResourceList{"memory": resource.MustParse("5Mi")}); len(warned) != 1 || !strings.Contains(warned[0], "minimum") {
		t.Errorf("5Mi: warned %q", warned)
	}
	if warned := limited("right", corev1.ResourceList{"cpu": resource.MustParse("0.5"), "memory": resource.MustParse("64M")}); len(warned) != 0 {
		t.Errorf("64M: warned %q", warned)
	}
	w.ready("right")
	failed := w.wait("milli", "Failed", func(p *corev1.Pod) bool { return p.Status.Phase == corev1.PodFailed })
	if failed.Status.Reason != "MemoryLimitTooSmall" || !strings.Contains(failed.Status.Message, "did you mean 128Mi?") {
		t.Errorf("128m: %s: %s", failed.Status.Reason, failed.Status.Message)
	}
}
