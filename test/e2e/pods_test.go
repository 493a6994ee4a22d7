// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// pod is a pod of the containers.
func pod(name string, containers ...corev1.Container) *corev1.Pod {
	return &corev1.Pod{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       corev1.PodSpec{Containers: containers},
	}
}

// app is a container of the test application in a mode.
func app(name string, args ...string) corev1.Container {
	return corev1.Container{Name: name, Image: image("app:1"), Args: args}
}

// shell is a container that runs a script in busybox.
func shell(name, script string) corev1.Container {
	return corev1.Container{Name: name, Image: image("busybox:1"), Command: []string{"sh", "-c", script}}
}

// image is where an image of the test's registry is.
func image(path string) string { return registry.Host() + "/" + path }

// onNode binds the pod to a node.
func onNode(p *corev1.Pod, node string) *corev1.Pod {
	p.Spec.NodeName = node
	return p
}

func isReady(p *corev1.Pod) bool {
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

func inPhase(phase corev1.PodPhase) func(*corev1.Pod) bool {
	return func(p *corev1.Pod) bool { return p.Status.Phase == phase }
}

// container returns the status of a container, also of an init container; the
// zero status if there is none.
func container(p *corev1.Pod, name string) corev1.ContainerStatus {
	for _, s := range append(p.Status.InitContainerStatuses, p.Status.ContainerStatuses...) {
		if s.Name == name {
			return s
		}
	}
	return corev1.ContainerStatus{}
}

// waitsFor tells whether a container waits for that reason.
func waitsFor(name, reason string) func(*corev1.Pod) bool {
	return func(p *corev1.Pod) bool {
		s := container(p, name).State.Waiting
		return s != nil && s.Reason == reason
	}
}
