// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podruntime

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/testing/protocmp"
	corev1 "k8s.io/api/core/v1"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
	"k8s.io/utils/ptr"
)

// plainSecurity is that of a container which asks for nothing.
func plainSecurity() *runtimeapi.LinuxContainerSecurityContext {
	return &runtimeapi.LinuxContainerSecurityContext{
		NamespaceOptions: &runtimeapi.NamespaceOption{Pid: runtimeapi.NamespaceMode_CONTAINER},
		MaskedPaths:      maskedPaths, ReadonlyPaths: readonlyPaths,
		Seccomp: &runtimeapi.SecurityProfile{ProfileType: runtimeapi.SecurityProfile_Unconfined},
	}
}

func id(v int64) *runtimeapi.Int64Value { return &runtimeapi.Int64Value{Value: v} }

func TestContainerSecurity(t *testing.T) {
	pod1 := corev1.PodSecurityContext{
		RunAsUser: ptr.To(int64(1000)), RunAsGroup: ptr.To(int64(2000)), SupplementalGroups: []int64{3000}, FSGroup: ptr.To(int64(4000)),
		SELinuxOptions: &corev1.SELinuxOptions{User: "u", Role: "r", Type: "t", Level: "l"},
		SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
	}
	for name, tt := range map[string]struct {
		pod  *corev1.PodSecurityContext
		sc   *corev1.SecurityContext
		want func(*runtimeapi.LinuxContainerSecurityContext)
	}{
		"nothing": {nil, nil, func(*runtimeapi.LinuxContainerSecurityContext) {}},
		"empty":   {&corev1.PodSecurityContext{}, &corev1.SecurityContext{}, func(*runtimeapi.LinuxContainerSecurityContext) {}},
		"the pod's": {&pod1, nil, func(s *runtimeapi.LinuxContainerSecurityContext) {
			s.RunAsUser, s.RunAsGroup, s.SupplementalGroups = id(1000), id(2000), []int64{3000, 4000}
			s.SelinuxOptions = &runtimeapi.SELinuxOption{User: "u", Role: "r", Type: "t", Level: "l"}
			s.Seccomp = &runtimeapi.SecurityProfile{ProfileType: runtimeapi.SecurityProfile_RuntimeDefault}
		}},
		"the container's before the pod's": {&pod1, &corev1.SecurityContext{
			RunAsUser: ptr.To(int64(0)), RunAsGroup: ptr.To(int64(1)), SELinuxOptions: &corev1.SELinuxOptions{Level: "m"},
			SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeLocalhost, LocalhostProfile: ptr.To("a/b.json")},
		}, func(s *runtimeapi.LinuxContainerSecurityContext) {
			s.RunAsUser, s.RunAsGroup, s.SupplementalGroups = id(0), id(1), []int64{3000, 4000}
			s.SelinuxOptions = &runtimeapi.SELinuxOption{Level: "m"}
			s.Seccomp = &runtimeapi.SecurityProfile{ProfileType: runtimeapi.SecurityProfile_Localhost, LocalhostRef: "/seccomp/a/b.json"}
		}},
		"capabilities": {nil, &corev1.SecurityContext{Capabilities: &corev1.Capabilities{
			Add: []corev1.Capability{"NET_ADMIN", "CAP_sys_time"}, Drop: []corev1.Capability{"all"}}},
			func(s *runtimeapi.LinuxContainerSecurityContext) {
				s.Capabilities = &runtimeapi.Capability{AddCapabilities: []string{"NET_ADMIN", "SYS_TIME"}, DropCapabilities: []string{"ALL"}}
			}},
		"switches": {nil, &corev1.SecurityContext{Privileged: ptr.To(true), ReadOnlyRootFilesystem: ptr.To(true),
			AllowPrivilegeEscalation: ptr.To(false), ProcMount: ptr.To(corev1.UnmaskedProcMount)},
			func(s *runtimeapi.LinuxContainerSecurityContext) {
				s.Privileged, s.ReadonlyRootfs, s.NoNewPrivs, s.MaskedPaths, s.ReadonlyPaths = true, true, true, nil, nil
			}},
		"strict groups, AppArmor": {&corev1.PodSecurityContext{
			SupplementalGroupsPolicy: ptr.To(corev1.SupplementalGroupsPolicyStrict),
			AppArmorProfile:          &corev1.AppArmorProfile{Type: corev1.AppArmorProfileTypeLocalhost, LocalhostProfile: ptr.To("web")},
		}, nil, func(s *runtimeapi.LinuxContainerSecurityContext) {
			s.SupplementalGroupsPolicy = runtimeapi.SupplementalGroupsPolicy_Strict
			s.Apparmor = &runtimeapi.SecurityProfile{ProfileType: runtimeapi.SecurityProfile_Localhost, LocalhostRef: "web"}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			pod := testPod("web")
			pod.Spec.SecurityContext, pod.Spec.Containers[0].SecurityContext = tt.pod, tt.sc
			want := plainSecurity()
			tt.want(want)
			got := newHarness(t).containerSecurity(pod, &pod.Spec.Containers[0], nil)
			if diff := cmp.Diff(want, got, protocmp.Transform()); diff != "" {
				t.Errorf("security context (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSandboxSecurity(t *testing.T) {
	pod := testPod("web", "other")
	pod.Spec.SecurityContext = &corev1.PodSecurityContext{RunAsGroup: ptr.To(int64(2000)), FSGroup: ptr.To(int64(4000))}
	pod.Spec.Containers[1].SecurityContext = &corev1.SecurityContext{Privileged: ptr.To(true)}
	got := sandboxSecurity(pod, nil)
	if !got.GetPrivileged() || got.GetRunAsGroup() != nil || len(got.GetSupplementalGroups()) != 1 {
		t.Errorf("a group without a user, one container of two privileged: %v", got)
	}
	pod.Spec.SecurityContext.RunAsUser = ptr.To(int64(1000))
	if got := sandboxSecurity(pod, nil); got.GetRunAsUser().GetValue() != 1000 || got.GetRunAsGroup().GetValue() != 2000 {
		t.Errorf("a group and a user: %v", got)
	}
}

func TestNamespaceOptions(t *testing.T) {
	const node, own, each = runtimeapi.NamespaceMode_NODE, runtimeapi.NamespaceMode_POD, runtimeapi.NamespaceMode_CONTAINER
	for name, tt := range map[string]struct {
		change            func(*corev1.PodSpec)
		network, ipc, pid runtimeapi.NamespaceMode
	}{
		"nothing":          {func(*corev1.PodSpec) {}, own, own, each},
		"shared processes": {func(s *corev1.PodSpec) { s.ShareProcessNamespace = ptr.To(true) }, own, own, own},
		"the host's PIDs":  {func(s *corev1.PodSpec) { s.HostPID = true }, own, own, node},
		"the host's IPC":   {func(s *corev1.PodSpec) { s.HostIPC = true }, own, node, each},
		"the host's net":   {func(s *corev1.PodSpec) { s.HostNetwork = true }, node, own, each},
	} {
		t.Run(name, func(t *testing.T) {
			pod := testPod("web")
			tt.change(&pod.Spec)
			got := namespaceOptions(pod, nil)
			if got.GetNetwork() != tt.network || got.GetIpc() != tt.ipc || got.GetPid() != tt.pid || got.GetUsernsOptions() != nil {
				t.Errorf("namespaces: %v", got)
			}
		})
	}
}

// The sandbox, its containers and their mounts have the same users.
func TestUsersOfThePod(t *testing.T) {
	h := newHarness(t)
	pod := testPod("web")
	pod.Spec.HostUsers = ptr.To(false)
	ids := []*runtimeapi.IDMapping{{HostId: 131072, ContainerId: 0, Length: 65536}}
	want := &runtimeapi.UserNamespace{Mode: runtimeapi.NamespaceMode_POD, Uids: ids, Gids: ids}
	sandbox, _, err := h.sandboxConfig(pod, 0)
	if err != nil {
		t.Fatal(err)
	}
	container, err := h.containerConfig(pod, &pod.Spec.Containers[0], 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	for of, got := range map[string]*runtimeapi.UserNamespace{
		"sandbox":   sandbox.GetLinux().GetSecurityContext().GetNamespaceOptions().GetUsernsOptions(),
		"container": container.GetLinux().GetSecurityContext().GetNamespaceOptions().GetUsernsOptions(),
		"mount":     {Mode: runtimeapi.NamespaceMode_POD, Uids: container.GetMounts()[0].GetUidMappings(), Gids: container.GetMounts()[0].GetGidMappings()},
	} {
		if diff := cmp.Diff(want, got, protocmp.Transform()); diff != "" {
			t.Errorf("users of the %s (-want +got):\n%s", of, diff)
		}
	}
}

func TestSysctlsByTheirNamesWithDots(t *testing.T) {
	pod := testPod("web")
	pod.Spec.SecurityContext = &corev1.PodSecurityContext{Sysctls: []corev1.Sysctl{{Name: "net/ipv4/conf/eth0.1/forwarding", Value: "1"}, {Name: "kernel.sem", Value: "2"}}}
	want := map[string]string{"net.ipv4.conf.eth0/1.forwarding": "1", "kernel.sem": "2"}
	if diff := cmp.Diff(want, sysctls(pod)); diff != "" {
		t.Errorf("sysctls (-want +got):\n%s", diff)
	}
}
