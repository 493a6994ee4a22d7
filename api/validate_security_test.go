// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

func ofPod(sc corev1.PodSecurityContext) change {
	return func(p *corev1.Pod, _ *corev1.Container) { p.Spec.SecurityContext = &sc }
}

func ofContainer(sc corev1.SecurityContext) change {
	return func(_ *corev1.Pod, c *corev1.Container) { c.SecurityContext = &sc }
}

func both(a, b change) change {
	return func(p *corev1.Pod, c *corev1.Container) { a(p, c); b(p, c) }
}

func withOwnUsers(p *corev1.Pod, _ *corev1.Container) { p.Spec.HostUsers = ptr.To(false) }

func seccomp(kind corev1.SeccompProfileType, file *string) *corev1.SeccompProfile {
	return &corev1.SeccompProfile{Type: kind, LocalhostProfile: file}
}

func apparmor(kind corev1.AppArmorProfileType, name *string) *corev1.AppArmorProfile {
	return &corev1.AppArmorProfile{Type: kind, LocalhostProfile: name}
}

func sysctls(names ...string) (all []corev1.Sysctl) {
	for _, name := range names {
		all = append(all, corev1.Sysctl{Name: name, Value: "1"})
	}
	return all
}

func TestSecurityContextsThatAreAccepted(t *testing.T) {
	testAccepted(t, map[string]change{
		"the pod's": ofPod(corev1.PodSecurityContext{
			RunAsUser: ptr.To(int64(1000)), RunAsGroup: ptr.To(int64(0)), RunAsNonRoot: ptr.To(true), FSGroup: ptr.To(int64(2000)),
			SupplementalGroups: []int64{0, 4294967294 / 2}, SupplementalGroupsPolicy: ptr.To(corev1.SupplementalGroupsPolicyStrict),
			SeccompProfile: seccomp("Localhost", ptr.To("a/b.json")), AppArmorProfile: apparmor("Localhost", ptr.To("web")),
			SELinuxOptions: &corev1.SELinuxOptions{Level: "s0:c1"}, SELinuxChangePolicy: ptr.To(corev1.SELinuxChangePolicyRecursive),
			Sysctls: sysctls("net.ipv4.tcp_syncookies", "kernel/shm_rmid_forced"),
		}),
		"a container's": ofContainer(corev1.SecurityContext{
			RunAsUser: ptr.To(int64(0)), RunAsGroup: ptr.To(int64(0)), RunAsNonRoot: ptr.To(false), Privileged: ptr.To(true),
			AllowPrivilegeEscalation: ptr.To(true), ReadOnlyRootFilesystem: ptr.To(true), ProcMount: ptr.To(corev1.DefaultProcMount),
			Capabilities:   &corev1.Capabilities{Add: []corev1.Capability{"NET_ADMIN"}, Drop: []corev1.Capability{"ALL"}},
			SeccompProfile: seccomp("Unconfined", nil), AppArmorProfile: apparmor("RuntimeDefault", nil), SELinuxOptions: &corev1.SELinuxOptions{},
		}),
		"unmasked, users of its own": both(withOwnUsers, ofContainer(corev1.SecurityContext{ProcMount: ptr.To(corev1.UnmaskedProcMount)})),
	})
}

func TestSecurityContextsThatAreRefused(t *testing.T) {
	const pod, container = "spec.securityContext", "spec.containers[0].securityContext"
	hostNetwork := func(p *corev1.Pod, c *corev1.Container) { p.Spec.HostNetwork, c.Ports = true, nil }
	hostIPC := func(p *corev1.Pod, _ *corev1.Container) { p.Spec.HostIPC = true }
	testRefused(t, map[string]refused{
		"user":                {ofPod(corev1.PodSecurityContext{RunAsUser: ptr.To(int64(-1))}), pod + ".runAsUser", "must be between 0 and 2147483647"},
		"group":               {ofPod(corev1.PodSecurityContext{RunAsGroup: ptr.To(int64(1 << 31))}), pod + ".runAsGroup", "must be between 0 and 2147483647"},
		"group of volumes":    {ofPod(corev1.PodSecurityContext{FSGroup: ptr.To(int64(-1))}), pod + ".fsGroup", "must be between"},
		"supplemental group":  {ofPod(corev1.PodSecurityContext{SupplementalGroups: []int64{1, -1}}), pod + ".supplementalGroups[1]", "must be between"},
		"policy of groups":    {ofPod(corev1.PodSecurityContext{SupplementalGroupsPolicy: ptr.To(corev1.SupplementalGroupsPolicy("x"))}), pod + ".supplementalGroupsPolicy", "Unsupported value"},
		"windows":             {ofPod(corev1.PodSecurityContext{WindowsOptions: &corev1.WindowsSecurityContextOptions{HostProcess: ptr.To(true)}}), pod + ".windowsOptions", "windows options cannot be set for a linux pod"},
		"change of SELinux":   {ofPod(corev1.PodSecurityContext{SELinuxChangePolicy: ptr.To(corev1.SELinuxChangePolicyMountOption)}), pod + ".seLinuxChangePolicy", notHonoured},
		"no name of a sysctl": {ofPod(corev1.PodSecurityContext{Sysctls: sysctls("")}), pod + ".sysctls[0].name", "Required value"},
		"name of a sysctl":    {ofPod(corev1.PodSecurityContext{Sysctls: sysctls("Net.a")}), pod + ".sysctls[0].name", "must have at most 253 characters and match regex"},
		"sysctl twice":        {ofPod(corev1.PodSecurityContext{Sysctls: sysctls("net.a", "net.a")}), pod + ".sysctls[1].name", "Duplicate value"},
		"sysctl of the host":  {both(hostNetwork, ofPod(corev1.PodSecurityContext{Sysctls: sysctls("net.a")})), pod + ".sysctls[0].name", "may not be specified when 'hostNetwork' is true"},
		"sysctl of its IPC":   {both(hostIPC, ofPod(corev1.PodSecurityContext{Sysctls: sysctls("kernel.sem")})), pod + ".sysctls[0].name", "may not be specified when 'hostIPC' is true"},

		"no seccomp type":      {ofPod(corev1.PodSecurityContext{SeccompProfile: seccomp("", nil)}), pod + ".seccompProfile.type", "type is required when seccompProfile is set"},
		"seccomp type":         {ofContainer(corev1.SecurityContext{SeccompProfile: seccomp("x", nil)}), container + ".seccompProfile.type", `supported values: "Localhost", "RuntimeDefault", "Unconfined"`},
		"no seccomp file":      {ofContainer(corev1.SecurityContext{SeccompProfile: seccomp("Localhost", nil)}), container + ".seccompProfile.localhostProfile", "must be set when seccomp type is Localhost"},
		"seccomp file":         {ofContainer(corev1.SecurityContext{SeccompProfile: seccomp("Localhost", ptr.To("a/../../b"))}), container + ".seccompProfile.localhostProfile", "must not contain '..'"},
		"seccomp absolute":     {ofContainer(corev1.SecurityContext{SeccompProfile: seccomp("Localhost", ptr.To("/a"))}), container + ".seccompProfile.localhostProfile", "must be a relative path"},
		"seccomp file of none": {ofContainer(corev1.SecurityContext{SeccompProfile: seccomp("Unconfined", ptr.To("a"))}), container + ".seccompProfile.localhostProfile", "can only be set when seccomp type is Localhost"},

		"no AppArmor type": {ofPod(corev1.PodSecurityContext{AppArmorProfile: apparmor("", nil)}), pod + ".appArmorProfile.type", "type is required when appArmorProfile is set"},
		"AppArmor type":    {ofContainer(corev1.SecurityContext{AppArmorProfile: apparmor("x", nil)}), container + ".appArmorProfile.type", "Unsupported value"},
		"no AppArmor name": {ofContainer(corev1.SecurityContext{AppArmorProfile: apparmor("Localhost", nil)}), container + ".appArmorProfile.localhostProfile", "must be set when AppArmor type is Localhost"},
		"AppArmor spaces":  {ofContainer(corev1.SecurityContext{AppArmorProfile: apparmor("Localhost", ptr.To(" a"))}), container + ".appArmorProfile.localhostProfile", "must not be padded with whitespace"},
		"AppArmor length":  {ofContainer(corev1.SecurityContext{AppArmorProfile: apparmor("Localhost", ptr.To(strings.Repeat("a", 4096)))}), container + ".appArmorProfile.localhostProfile", "4095"},
		"AppArmor of none": {ofContainer(corev1.SecurityContext{AppArmorProfile: apparmor("Unconfined", ptr.To("a"))}), container + ".appArmorProfile.localhostProfile", "can only be set when AppArmor type is Localhost"},

		"a container's user":    {ofContainer(corev1.SecurityContext{RunAsUser: ptr.To(int64(-1))}), container + ".runAsUser", "must be between"},
		"a container's group":   {ofContainer(corev1.SecurityContext{RunAsGroup: ptr.To(int64(-1))}), container + ".runAsGroup", "must be between"},
		"a container's windows": {ofContainer(corev1.SecurityContext{WindowsOptions: &corev1.WindowsSecurityContextOptions{HostProcess: ptr.To(true)}}), container + ".windowsOptions", "windows options cannot be set"},
		"privileged": {ofContainer(corev1.SecurityContext{Privileged: ptr.To(true), AllowPrivilegeEscalation: ptr.To(false)}),
			container, "cannot set `allowPrivilegeEscalation` to false and `privileged` to true"},
		"capability": {ofContainer(corev1.SecurityContext{AllowPrivilegeEscalation: ptr.To(false), Capabilities: &corev1.Capabilities{Add: []corev1.Capability{"CAP_SYS_ADMIN"}}}),
			container, "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN"},
		"proc":          {ofContainer(corev1.SecurityContext{ProcMount: ptr.To(corev1.ProcMountType("x"))}), container + ".procMount", "Unsupported value"},
		"unmasked proc": {ofContainer(corev1.SecurityContext{ProcMount: ptr.To(corev1.UnmaskedProcMount)}), container + ".procMount", "`hostUsers` must be false to use `Unmasked`"},
	})
}
