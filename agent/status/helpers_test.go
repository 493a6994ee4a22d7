// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-run/berth/agent/podtypes"
)

// The times of the tests, whole seconds.
var (
	t0 = time.Date(2026, 3, 1, 12, 0, 0, 0, time.Local)
	t1 = t0.Add(time.Minute)
	t2 = t1.Add(time.Minute)
)

// newPod has the named containers; a name that begins with init- is an init
// container's, one with side- a sidecar's, one with debug- an ephemeral container's.
func newPod(policy corev1.RestartPolicy, names ...string) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web", UID: "uid-1", Generation: 3},
		Spec:       corev1.PodSpec{RestartPolicy: policy},
	}
	always := corev1.ContainerRestartPolicyAlways
	for _, name := range names {
		c := corev1.Container{Name: name, Image: name + ":1"}
		switch name[:min(5, len(name))] {
		case "debug":
			pod.Spec.EphemeralContainers = append(pod.Spec.EphemeralContainers,
				corev1.EphemeralContainer{EphemeralContainerCommon: corev1.EphemeralContainerCommon(c)})
		case "init-":
			pod.Spec.InitContainers = append(pod.Spec.InitContainers, c)
		case "side-":
			c.RestartPolicy = &always
			pod.Spec.InitContainers = append(pod.Spec.InitContainers, c)
		default:
			pod.Spec.Containers = append(pod.Spec.Containers, c)
		}
	}
	return pod
}

// sandbox returns a ready sandbox with an address.
func sandbox(id, ip string) podtypes.SandboxStatus {
	return podtypes.SandboxStatus{Sandbox: podtypes.Sandbox{ID: id, Ready: true}, IPs: []string{ip}}
}

// runtimeStatus has one ready sandbox and these containers, newest first.
func runtimeStatus(containers ...podtypes.ContainerStatus) *podtypes.PodStatus {
	return &podtypes.PodStatus{
		UID:        "uid-1",
		Sandboxes:  []podtypes.SandboxStatus{sandbox("s0", "10.0.0.2")},
		Containers: containers,
	}
}

func instance(name string, attempt int, state podtypes.ContainerState) podtypes.ContainerStatus {
	return podtypes.ContainerStatus{
		Container: podtypes.Container{
			ID: name + "." + string(rune('0'+attempt)), Name: name, SandboxID: "s0",
			Attempt: uint32(attempt), State: state,
		},
		StartedAt:    t0,
		Image:        name + ":1",
		ImageID:      "sha256:" + name,
		RestartCount: int32(attempt),
	}
}

func created(name string, attempt int) podtypes.ContainerStatus {
	s := instance(name, attempt, podtypes.ContainerCreated)
	s.StartedAt = time.Time{}
	return s
}

func running(name string, attempt int) podtypes.ContainerStatus {
	return instance(name, attempt, podtypes.ContainerRunning)
}

func exited(name string, attempt int, code int32) podtypes.ContainerStatus {
	s := instance(name, attempt, podtypes.ContainerExited)
	s.FinishedAt, s.ExitCode = t1, code
	return s
}

func unknown(name string, attempt int) podtypes.ContainerStatus {
	return instance(name, attempt, podtypes.ContainerUnknown)
}

// generate makes the status of a pod without history.
func generate(pod *corev1.Pod, runtime *podtypes.PodStatus) corev1.PodStatus {
	return Generate(input(pod, runtime))
}

func input(pod *corev1.Pod, runtime *podtypes.PodStatus) Input {
	return Input{
		Pod: pod, Runtime: runtime, Now: t2,
		HostIPs: []string{"192.0.2.1"}, RuntimeName: "containerd",
	}
}

// after makes the status that follows previous.
func after(previous corev1.PodStatus, pod *corev1.Pod, runtime *podtypes.PodStatus) corev1.PodStatus {
	in := input(pod, runtime)
	in.Previous = &previous
	return Generate(in)
}
