// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podruntime

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
	"k8s.io/utils/ptr"

	"github.com/berth-run/berth/api"
)

// What a container that is not privileged must not see or not write of /proc and
// /sys, as container engines have it.
var (
	maskedPaths = []string{
		"/proc/asound", "/proc/acpi", "/proc/interrupts", "/proc/kcore", "/proc/keys",
		"/proc/latency_stats", "/proc/timer_list", "/proc/timer_stats", "/proc/sched_debug",
		"/proc/scsi", "/sys/firmware", "/sys/devices/virtual/powercap",
	}
	readonlyPaths = []string{"/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"}
)

// containerSecurity is the container's security context in the runtime's words. The
// user that its image names is not known yet.
func (r *Runtime) containerSecurity(pod *corev1.Pod, c *corev1.Container, userns *runtimeapi.UserNamespace) *runtimeapi.LinuxContainerSecurityContext {
	sc := effectiveSecurity(pod, c)
	out := &runtimeapi.LinuxContainerSecurityContext{
		Capabilities:             capabilities(sc.Capabilities),
		Privileged:               ptr.Deref(sc.Privileged, false),
		NamespaceOptions:         namespaceOptions(pod, userns),
		SelinuxOptions:           selinuxOptions(sc.SELinuxOptions),
		RunAsUser:                int64Value(sc.RunAsUser),
		RunAsGroup:               int64Value(sc.RunAsGroup),
		ReadonlyRootfs:           ptr.Deref(sc.ReadOnlyRootFilesystem, false),
		SupplementalGroups:       supplementalGroups(pod),
		SupplementalGroupsPolicy: supplementalGroupsPolicy(pod),
		NoNewPrivs:               !ptr.Deref(sc.AllowPrivilegeEscalation, true),
		Seccomp:                  r.seccompProfile(sc.SeccompProfile),
		Apparmor:                 apparmorProfile(sc.AppArmorProfile),
	}
	if ptr.Deref(sc.ProcMount, corev1.DefaultProcMount) != corev1.UnmaskedProcMount {
		out.MaskedPaths, out.ReadonlyPaths = maskedPaths, readonlyPaths
	}
	return out
}

// effectiveSecurity is what the container asks for, and of what it leaves open, what
// the pod does.
func effectiveSecurity(pod *corev1.Pod, c *corev1.Container) corev1.SecurityContext {
	var sc corev1.SecurityContext
	if c.SecurityContext != nil {
		sc = *c.SecurityContext
	}
	if all := pod.Spec.SecurityContext; all != nil {
		sc.RunAsUser = cmp.Or(sc.RunAsUser, all.RunAsUser)
		sc.RunAsGroup = cmp.Or(sc.RunAsGroup, all.RunAsGroup)
		sc.RunAsNonRoot = cmp.Or(sc.RunAsNonRoot, all.RunAsNonRoot)
		sc.SELinuxOptions = cmp.Or(sc.SELinuxOptions, all.SELinuxOptions)
		sc.SeccompProfile = cmp.Or(sc.SeccompProfile, all.SeccompProfile)
		sc.AppArmorProfile = cmp.Or(sc.AppArmorProfile, all.AppArmorProfile)
	}
	return sc
}

// sandboxSecurity is what the pod asks for as a whole. A sandbox must be privileged
// for any container in it to be.
func sandboxSecurity(pod *corev1.Pod, userns *runtimeapi.UserNamespace) *runtimeapi.LinuxSandboxSecurityContext {
	out := &runtimeapi.LinuxSandboxSecurityContext{
		NamespaceOptions:         namespaceOptions(pod, userns),
		SupplementalGroups:       supplementalGroups(pod),
		SupplementalGroupsPolicy: supplementalGroupsPolicy(pod),
		Privileged:               hasPrivileged(pod),
		Seccomp:                  unconfined,
	}
	if sc := pod.Spec.SecurityContext; sc != nil {
		out.RunAsUser = int64Value(sc.RunAsUser)
		out.SelinuxOptions = selinuxOptions(sc.SELinuxOptions)
		// A group without a user is for the runtime to refuse.
		if sc.RunAsUser != nil {
			out.RunAsGroup = int64Value(sc.RunAsGroup)
		}
	}
	return out
}

func hasPrivileged(pod *corev1.Pod) bool {
	return slices.ContainsFunc(api.Containers(&pod.Spec), func(c *corev1.Container) bool {
		return c.SecurityContext != nil && ptr.Deref(c.SecurityContext.Privileged, false)
	})
}

// supplementalGroups are the groups of every process of the pod, that of its volumes
// among them.
func supplementalGroups(pod *corev1.Pod) []int64 {
	sc := pod.Spec.SecurityContext
	if sc == nil {
		return nil
	}
	groups := sc.SupplementalGroups
	if sc.FSGroup != nil {
		groups = append(groups[:len(groups):len(groups)], *sc.FSGroup)
	}
	return groups
}

// supplementalGroupsPolicy: by Merge a process has the groups of the image's
// /etc/group too, by Strict it has not.
func supplementalGroupsPolicy(pod *corev1.Pod) runtimeapi.SupplementalGroupsPolicy {
	sc := pod.Spec.SecurityContext
	if sc != nil && ptr.Deref(sc.SupplementalGroupsPolicy, corev1.SupplementalGroupsPolicyMerge) == corev1.SupplementalGroupsPolicyStrict {
		return runtimeapi.SupplementalGroupsPolicy_Strict
	}
	return runtimeapi.SupplementalGroupsPolicy_Merge
}

func selinuxOptions(o *corev1.SELinuxOptions) *runtimeapi.SELinuxOption {
	if o == nil {
		return nil
	}
	return &runtimeapi.SELinuxOption{User: o.User, Role: o.Role, Type: o.Type, Level: o.Level}
}

func int64Value(v *int64) *runtimeapi.Int64Value {
	if v == nil {
		return nil
	}
	return &runtimeapi.Int64Value{Value: *v}
}
