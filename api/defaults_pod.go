// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	corev1 "k8s.io/api/core/v1"
)

func defaultPod(pod *corev1.Pod) {
	spec := &pod.Spec
	defaultPodSpec(spec)
	defaultPodResources(pod)
	setDefault(&pod.Status.Phase, corev1.PodPending)
	setDefault(&pod.Status.QOSClass, QoSClass(pod))
}

func defaultPodSpec(spec *corev1.PodSpec) {
	setDefault(&spec.RestartPolicy, corev1.RestartPolicyAlways)
	setDefault(&spec.DNSPolicy, corev1.DNSClusterFirst)
	setDefault(&spec.SchedulerName, corev1.DefaultSchedulerName)
	setDefaultPointer(&spec.TerminationGracePeriodSeconds, int64(corev1.DefaultTerminationGracePeriodSeconds))
	setDefaultPointer(&spec.SecurityContext, corev1.PodSecurityContext{})
	setDefaultPointer(&spec.EnableServiceLinks, corev1.DefaultEnableServiceLinks)
	setDefault(&spec.ServiceAccountName, spec.DeprecatedServiceAccount)
	setDefault(&spec.DeprecatedServiceAccount, spec.ServiceAccountName)
	for i := range spec.Volumes {
		defaultVolume(&spec.Volumes[i].VolumeSource)
	}
	for _, c := range Containers(spec) {
		defaultContainer(c)
		if spec.HostNetwork {
			defaultHostPorts(c.Ports)
		}
	}
}

func defaultContainer(c *corev1.Container) {
	setDefault(&c.ImagePullPolicy, defaultPullPolicy(c.Image))
	setDefault(&c.TerminationMessagePath, corev1.TerminationMessagePathDefault)
	setDefault(&c.TerminationMessagePolicy, corev1.TerminationMessageReadFile)
	for i := range c.Ports {
		setDefault(&c.Ports[i].Protocol, corev1.ProtocolTCP)
	}
	for i := range c.Env {
		if from := c.Env[i].ValueFrom; from != nil && from.FieldRef != nil {
			setDefault(&from.FieldRef.APIVersion, "v1")
		}
	}
	defaultLifecycle(c.Lifecycle)
	defaultProbes(c)
	defaultRequests(&c.Resources)
}

// defaultHostPorts says of a pod in the host's network that its ports are the
// host's.
func defaultHostPorts(ports []corev1.ContainerPort) {
	for i := range ports {
		setDefault(&ports[i].HostPort, ports[i].ContainerPort)
	}
}
