// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/berth-run/berth/agent/podtypes"
	"github.com/berth-run/berth/api"
)

// Machine is what decides about security contexts and is not in the node's record.
type Machine struct {
	// AppArmor tells whether the kernel enforces its profiles.
	AppArmor bool
	Sysctls  *Sysctls
}

// checkSecurity returns what the pod asks for that the node would not do. To run it
// without would be worse than not to run it.
func checkSecurity(pod *corev1.Pod, node *corev1.Node, m Machine) *podtypes.RejectError {
	if why := m.Sysctls.check(pod); why != nil {
		return why
	}
	switch {
	case !m.AppArmor && asksForAppArmor(&pod.Spec):
		return &podtypes.RejectError{Reason: "AppArmor", Message: "Cannot enforce AppArmor: AppArmor is not enabled on the host"}
	case !ptr.Deref(pod.Spec.HostUsers, true) && lacksUserNamespaces(pod, node):
		return &podtypes.RejectError{Reason: "UserNamespacesNotSupported",
			Message: "hostUsers: false is not supported on this node: its kernel or its container runtime has no user namespaces with mapped mounts"}
	case asksForStrictGroups(&pod.Spec) && lacksStrictGroups(node):
		return &podtypes.RejectError{Reason: "SupplementalGroupsPolicyNotSupported",
			Message: "SupplementalGroupsPolicy=Strict is not supported in this node"}
	}
	return nil
}

func asksForAppArmor(spec *corev1.PodSpec) bool {
	asks := func(p *corev1.AppArmorProfile) bool {
		return p != nil && p.Type != corev1.AppArmorProfileTypeUnconfined
	}
	if sc := spec.SecurityContext; sc != nil && asks(sc.AppArmorProfile) {
		return true
	}
	return slices.ContainsFunc(api.Containers(spec), func(c *corev1.Container) bool {
		return c.SecurityContext != nil && asks(c.SecurityContext.AppArmorProfile)
	})
}

// lacksUserNamespaces is about the handler that pods without a class have. Of others,
// and before the runtime has said what it can, the runtime has the last word.
func lacksUserNamespaces(pod *corev1.Pod, node *corev1.Node) bool {
	if pod.Spec.RuntimeClassName != nil {
		return false
	}
	for _, h := range node.Status.RuntimeHandlers {
		if h.Name == "" {
			return h.Features == nil || !ptr.Deref(h.Features.UserNamespaces, false)
		}
	}
	return false
}

func asksForStrictGroups(spec *corev1.PodSpec) bool {
	sc := spec.SecurityContext
	return sc != nil && ptr.Deref(sc.SupplementalGroupsPolicy, "") == corev1.SupplementalGroupsPolicyStrict
}

func lacksStrictGroups(node *corev1.Node) bool {
	f := node.Status.Features
	return f != nil && !ptr.Deref(f.SupplementalGroupsPolicy, false)
}
