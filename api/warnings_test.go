// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

func podWithLimits(limits map[corev1.ResourceName]string) *corev1.Pod {
	list := corev1.ResourceList{}
	for name, text := range limits {
		list[name] = resource.MustParse(text)
	}
	return &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{
		Name: "c", Image: "i", Resources: corev1.ResourceRequirements{Limits: list},
	}}}}
}

func TestB098MemoryThatIsSeldomMeant(t *testing.T) {
	const at = "spec.containers[0].resources.limits[memory]: "
	for text, want := range map[string]struct{ warning, refusal string }{
		"128m":     {at + `"128m" has fractional bytes; did you mean 128Mi?`, at + "128m is less than the 1Mi that a process needs to start; did you mean 128Mi?"},
		"128":      {at + "128 is below the runtime's minimum of 6Mi: the container may be killed before it runs; did you mean 128Mi?", at + "128 is less than the 1Mi that a process needs to start; did you mean 128Mi?"},
		"5Mi":      {at + "5Mi is below the runtime's minimum of 6Mi: the container may be killed before it runs", ""},
		"64M":      {},
		"6Mi":      {},
		"0":        {},
		"1.5Gi":    {},
		"1048577m": {at + `"1048577m" has fractional bytes`, at + "1048577m is less than the 1Mi that a process needs to start"},
	} {
		pod := podWithLimits(map[corev1.ResourceName]string{"memory": text, "cpu": "500m"})
		pod.Spec.Containers[0].Resources.Requests = pod.Spec.Containers[0].Resources.Limits
		if got := strings.Join(Warnings(pod), "\n"); got != want.warning {
			t.Errorf("%s: warns %q, want %q", text, got, want.warning)
		}
		if got := TooLittleMemory(pod); got != want.refusal {
			t.Errorf("%s: %q, want %q", text, got, want.refusal)
		}
	}
}

func TestWarningsOfWhatIsSaidTwice(t *testing.T) {
	pod := &corev1.Pod{Spec: corev1.PodSpec{InitContainers: []corev1.Container{{
		Env: []corev1.EnvVar{{Name: "PATH", Value: "/a"}, {Name: "PATH", Value: "$(PATH):/b"}, {Name: "A"}, {Name: "A"}},
		Ports: []corev1.ContainerPort{{ContainerPort: 80, Protocol: "TCP"}, {ContainerPort: 80, Protocol: "UDP"},
			{ContainerPort: 80, Protocol: "TCP", Name: "web"}},
	}}}}
	want := []string{
		`spec.initContainers[0].env[3]: hides previous definition of "A", which may be dropped when using apply`,
		"spec.initContainers[0].ports[2]: duplicate port definition with spec.initContainers[0].ports[0]",
	}
	if diff := cmp.Diff(want, Warnings(pod)); diff != "" {
		t.Error(diff)
	}
}

func TestWarningOfATaintThatEndsNoPod(t *testing.T) {
	node := &corev1.Node{Spec: corev1.NodeSpec{Taints: []corev1.Taint{
		{Key: "a", Effect: corev1.TaintEffectNoSchedule}, {Key: "a", Effect: corev1.TaintEffectNoExecute}}}}
	want := []string{"spec.taints[1]: NoExecute keeps new pods away, but does not end those that run: delete them"}
	if diff := cmp.Diff(want, Warnings(node)); diff != "" {
		t.Error(diff)
	}
}
