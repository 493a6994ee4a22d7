// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

// withDebugger is the valid pod with an ephemeral container, defaulted.
func withDebugger(change func(*corev1.EphemeralContainer)) *corev1.Pod {
	pod := validPod()
	e := corev1.EphemeralContainer{
		EphemeralContainerCommon: corev1.EphemeralContainerCommon{
			Name: "debugger", Image: "busybox:1", Command: []string{"sh"}, Stdin: true, TTY: true,
			VolumeMounts: []corev1.VolumeMount{{Name: "data", MountPath: "/data"}},
		},
		TargetContainerName: "web",
	}
	change(&e)
	pod.Spec.EphemeralContainers = append(pod.Spec.EphemeralContainers, e)
	Default(pod)
	return pod
}

func TestValidateEphemeralContainers(t *testing.T) {
	const at, never = "spec.ephemeralContainers[0].", "cannot be set for an Ephemeral Container"
	for name, tc := range map[string]struct {
		change func(*corev1.EphemeralContainer)
		path   string // empty: allowed
		words  string
	}{
		"added":       {change: func(*corev1.EphemeralContainer) {}},
		"no target":   {change: func(e *corev1.EphemeralContainer) { e.TargetContainerName = "" }},
		"init target": {change: func(e *corev1.EphemeralContainer) { e.TargetContainerName = "init" }},

		"no name":        {func(e *corev1.EphemeralContainer) { e.Name = "" }, at + "name", "Required value"},
		"no image":       {func(e *corev1.EphemeralContainer) { e.Image = "" }, at + "image", "Required value"},
		"taken name":     {func(e *corev1.EphemeralContainer) { e.Name = "web" }, at + "name", "Duplicate value"},
		"unknown target": {func(e *corev1.EphemeralContainer) { e.TargetContainerName = "db" }, at + "targetContainerName", "Not found"},
		"its own target": {func(e *corev1.EphemeralContainer) { e.TargetContainerName = "debugger" }, at + "targetContainerName", "Not found"},
		"unknown volume": {func(e *corev1.EphemeralContainer) { e.VolumeMounts[0].Name = "x" }, at + "volumeMounts[0].name", "Not found"},

		"ports":     {func(e *corev1.EphemeralContainer) { e.Ports = []corev1.ContainerPort{port("", 80, 0)} }, at + "ports", never},
		"resources": {func(e *corev1.EphemeralContainer) { e.Resources.Requests = quantity("cpu", "1") }, at + "resources", never},
		"restart":   {func(e *corev1.EphemeralContainer) { e.RestartPolicy = ptr.To(corev1.ContainerRestartPolicyNever) }, at + "restartPolicy", never},
		"liveness":  {func(e *corev1.EphemeralContainer) { e.LivenessProbe = &corev1.Probe{} }, at + "livenessProbe", never},
		"readiness": {func(e *corev1.EphemeralContainer) { e.ReadinessProbe = &corev1.Probe{} }, at + "readinessProbe", never},
		"startup":   {func(e *corev1.EphemeralContainer) { e.StartupProbe = &corev1.Probe{} }, at + "startupProbe", never},
		"lifecycle": {func(e *corev1.EphemeralContainer) { e.Lifecycle = &corev1.Lifecycle{} }, at + "lifecycle", never},
	} {
		t.Run(name, func(t *testing.T) {
			errs := ValidateEphemeralUpdate(Pods, withDebugger(tc.change), validPod())
			checkFields(t, fieldsOf(errs), tc.path)
			if err := errs.ToAggregate(); err != nil && !strings.Contains(err.Error(), tc.words) {
				t.Errorf("%v, want %q", err, tc.words)
			}
		})
	}
}

func TestEphemeralContainersAreOnlyAdded(t *testing.T) {
	pod := withDebugger(func(*corev1.EphemeralContainer) {})
	image := withDebugger(func(e *corev1.EphemeralContainer) { e.Image = "busybox:2" })
	other := withDebugger(func(e *corev1.EphemeralContainer) { e.Name = "other" })
	both := pod.DeepCopy()
	both.Spec.EphemeralContainers = append(other.Spec.EphemeralContainers[:1:1], pod.Spec.EphemeralContainers...)
	for name, tc := range map[string]struct {
		now   *corev1.Pod
		words string // empty: allowed
	}{
		"the same": {now: pod},
		"another":  {now: both},
		"gone":     {validPod(), `existing ephemeral containers "debugger" may not be removed`},
		"replaced": {other, `existing ephemeral containers "debugger" may not be removed`},
		"changed":  {image, `existing ephemeral containers "debugger" may not be changed`},
	} {
		err := ValidateEphemeralUpdate(Pods, tc.now, pod).ToAggregate()
		if (err == nil) != (tc.words == "") || err != nil && err.Error() != "spec.ephemeralContainers: Forbidden: "+tc.words {
			t.Errorf("%s: %v", name, err)
		}
	}
	checkFields(t, fieldsOf(ValidateCreate(Pods, pod)), "spec.ephemeralContainers")
	checkFields(t, fieldsOf(ValidateUpdate(Pods, pod, validPod())), "spec.ephemeralContainers")
}
