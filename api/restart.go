// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// IsSidecar tells whether an init container runs beside the pod's regular containers:
// it is restarted whenever it ends, until all of those have ended.
func IsSidecar(init *corev1.Container) bool {
	return init.RestartPolicy != nil && *init.RestartPolicy == corev1.ContainerRestartPolicyAlways
}

// ShouldRestart tells whether a container of the pod that ended with that code is to
// run again: by the first of its rules that fits, or else by its own policy, or else by
// the pod's. An init container that did its work is done, and an ephemeral container
// runs once.
func ShouldRestart(spec *corev1.PodSpec, c *corev1.Container, exitCode int32) bool {
	switch kindOf(spec, c.Name) {
	case ephemeralKind:
		return false
	case initKind:
		if IsSidecar(c) {
			return true
		}
		if exitCode == 0 {
			return false
		}
	}
	if slices.ContainsFunc(c.RestartPolicyRules, func(r corev1.ContainerRestartRule) bool { return ruleFits(&r, exitCode) }) {
		return true // the one action there is
	}
	switch restartPolicy(spec, c) {
	case corev1.RestartPolicyNever:
		return false
	case corev1.RestartPolicyOnFailure:
		return exitCode != 0
	}
	return true
}

func ruleFits(r *corev1.ContainerRestartRule, exitCode int32) bool {
	if r.ExitCodes == nil {
		return false
	}
	listed := slices.Contains(r.ExitCodes.Values, exitCode)
	return listed == (r.ExitCodes.Operator == corev1.ContainerRestartRuleOnExitCodesOpIn)
}

// restartPolicy is the container's own, or else the pod's.
func restartPolicy(spec *corev1.PodSpec, c *corev1.Container) corev1.RestartPolicy {
	if c.RestartPolicy != nil {
		return corev1.RestartPolicy(*c.RestartPolicy)
	}
	return spec.RestartPolicy
}

// The kinds of containers.
type containerKind int

const (
	regularKind containerKind = iota
	initKind
	ephemeralKind
)

// kindOf goes by the name, which is a container's alone in its pod.
func kindOf(spec *corev1.PodSpec, name string) containerKind {
	for i := range spec.InitContainers {
		if spec.InitContainers[i].Name == name {
			return initKind
		}
	}
	for i := range spec.EphemeralContainers {
		if spec.EphemeralContainers[i].Name == name {
			return ephemeralKind
		}
	}
	return regularKind
}
