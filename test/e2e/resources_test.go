// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

// resources are those of a manifest.
func resources(t *testing.T, text string) corev1.ResourceRequirements {
	t.Helper()
	var r corev1.ResourceRequirements
	if err := yaml.UnmarshalStrict([]byte(text), &r); err != nil {
		t.Fatal(err)
	}
	return r
}

func (w *world) withResources(name, text string) corev1.Container {
	c := app(name)
	c.Resources = resources(w.t, text)
	return c
}

const mebibyte = 1 << 20

// The classes of the Kubernetes documentation's task "Configure Quality of Service for
// Pods", with what follows from them on the node.
func TestQualityOfServiceClasses(t *testing.T) {
	w := shared(t)
	const any = "" // it follows from the memory of the machine
	for _, tc := range []struct {
		name, resources string
		class           corev1.PodQOSClass
		pod, container  limits
		oomScoreAdj     string
	}{
		{"guaranteed", `{limits: {memory: 200Mi, cpu: 700m}, requests: {memory: 200Mi, cpu: 700m}}`, corev1.PodQOSGuaranteed,
			limits{716, 700, 200 * mebibyte}, limits{716, 700, 200 * mebibyte}, "-997"},
		{"limits-alone", `{limits: {memory: 200Mi, cpu: 700m}}`, corev1.PodQOSGuaranteed,
			limits{716, 700, 200 * mebibyte}, limits{716, 700, 200 * mebibyte}, "-997"},
		{"burstable", `{limits: {memory: 200Mi}, requests: {memory: 100Mi}}`, corev1.PodQOSBurstable,
			limits{2, 0, 200 * mebibyte}, limits{2, 0, 200 * mebibyte}, any},
		{"requests-alone", `{requests: {memory: 100Mi, cpu: 100m}}`, corev1.PodQOSBurstable,
			limits{102, 0, 0}, limits{102, 0, 0}, any},
		{"best-effort", `{}`, corev1.PodQOSBestEffort, limits{2, 0, 0}, limits{2, 0, 0}, "1000"},
	} {
		w.create(pod(tc.name, w.withResources("c", tc.resources)))
		p := w.ready(tc.name)
		if p.Status.QOSClass != tc.class {
			t.Errorf("%s: class %s, want %s", tc.name, p.Status.QOSClass, tc.class)
		}
		tc.pod.want(t, w.podCgroup(p))
		tc.container.want(t, w.containerCgroup(p, "c"))
		if strings.HasPrefix(tc.oomScoreAdj, "-") && !mayProtect(t) {
			tc.oomScoreAdj = "0"
		}
		if got := oomScoreAdj(t, w.containerCgroup(p, "c")); tc.oomScoreAdj != any && got != tc.oomScoreAdj {
			t.Errorf("%s: OOM score %s, want %s", tc.name, got, tc.oomScoreAdj)
		}
		w.delete(tc.name, 0)
	}
}

// A container without resources beside one that has some leaves the pod without a
// limit, and makes it Burstable.
func TestAContainerWithoutLimitsLeavesThePodWithout(t *testing.T) {
	w := shared(t)
	w.create(pod("p", w.withResources("a", `{requests: {memory: 200Mi}, limits: {memory: 200Mi, cpu: 1}}`), app("b")))
	p := w.ready("p")
	if p.Status.QOSClass != corev1.PodQOSBurstable {
		t.Errorf("class %s", p.Status.QOSClass)
	}
	limits{1024, 0, 0}.want(t, w.podCgroup(p))
	limits{1024, 1000, 200 * mebibyte}.want(t, w.containerCgroup(p, "a"))
	limits{2, 0, 0}.want(t, w.containerCgroup(p, "b"))
}

// Resources of a pod as a whole (KEP-2837) bound its cgroup, and are the limits of the
// containers that have none.
func TestResourcesOfAWholePod(t *testing.T) {
	w := shared(t)
	p := pod("p", w.withResources("a", `{requests: {cpu: 100m}, limits: {memory: 64Mi}}`), app("b"))
	whole := resources(t, `{requests: {cpu: 500m, memory: 128Mi}, limits: {cpu: 500m, memory: 128Mi}}`)
	p.Spec.Resources = &whole
	w.create(p)
	p = w.ready("p")
	if p.Status.QOSClass != corev1.PodQOSGuaranteed || p.Status.Resources == nil || p.Status.AllocatedResources.Cpu().MilliValue() != 500 {
		t.Errorf("class %s, resources %v, allocated %v", p.Status.QOSClass, p.Status.Resources, p.Status.AllocatedResources)
	}
	limits{512, 500, 128 * mebibyte}.want(t, w.podCgroup(p))
	limits{102, 500, 64 * mebibyte}.want(t, w.containerCgroup(p, "a"))
	limits{2, 500, 128 * mebibyte}.want(t, w.containerCgroup(p, "b"))
}

func TestAContainerBeyondItsMemoryIsOOMKilled(t *testing.T) {
	w := shared(t)
	c := shell("c", "tail /dev/zero")
	c.Resources = resources(t, `{limits: {memory: 16Mi}}`)
	p := pod("p", c)
	p.Spec.RestartPolicy = corev1.RestartPolicyNever
	w.create(p)
	p = w.wait("p", "fails", inPhase(corev1.PodFailed))
	if end := container(p, "c").State.Terminated; end == nil || end.Reason != "OOMKilled" || end.ExitCode != 137 {
		t.Errorf("ended as %+v", end)
	}
}
