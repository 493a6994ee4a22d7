// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

func machine(t *testing.T, unsafe ...string) Machine {
	t.Helper()
	s, err := NewSysctls(unsafe)
	if err != nil {
		t.Fatal(err)
	}
	return Machine{Sysctls: s}
}

func withSysctl(name string, change func(*corev1.PodSpec)) *corev1.Pod {
	pod := &corev1.Pod{Spec: corev1.PodSpec{SecurityContext: &corev1.PodSecurityContext{
		Sysctls: []corev1.Sysctl{{Name: name, Value: "1"}}}}}
	if change != nil {
		change(&pod.Spec)
	}
	return pod
}

func TestSysctls(t *testing.T) {
	hostNetwork := func(s *corev1.PodSpec) { s.HostNetwork = true }
	hostIPC := func(s *corev1.PodSpec) { s.HostIPC = true }
	m := machine(t, "net.core.*", "kernel/msgmax", "kernel.shm*")
	for name, tt := range map[string]struct {
		pod  *corev1.Pod
		want string
	}{
		"safe":                   {withSysctl("net.ipv4.tcp_syncookies", nil), ""},
		"safe, with slashes":     {withSysctl("net/ipv4/tcp_syncookies", nil), ""},
		"of the whole machine":   {withSysctl("vm.swappiness", nil), `forbidden sysctl: "vm.swappiness" not allowlisted`},
		"unsafe":                 {withSysctl("net.ipv4.tcp_mem", nil), `forbidden sysctl: "net.ipv4.tcp_mem" not allowlisted`},
		"allowed by name":        {withSysctl("kernel.msgmax", nil), ""},
		"longer than its name":   {withSysctl("kernel.msgmaxx", nil), "not allowlisted"},
		"allowed by prefix":      {withSysctl("net.core.somaxconn", nil), ""},
		"allowed by half a word": {withSysctl("kernel.shmmax", nil), ""},
		"the host's network":     {withSysctl("net.ipv4.tcp_syncookies", hostNetwork), "not allowed with host net enabled"},
		"the host's network too": {withSysctl("net.core.somaxconn", hostNetwork), "not allowed with host net enabled"},
		"the host's IPC":         {withSysctl("kernel.shm_rmid_forced", hostIPC), "not allowed with host ipc enabled"},
		"IPC, host's network":    {withSysctl("kernel.shm_rmid_forced", hostNetwork), ""},
	} {
		t.Run(name, func(t *testing.T) {
			err := Admit(tt.pod, nil, &corev1.Node{}, m)
			switch {
			case tt.want == "" && err != nil:
				t.Errorf("refused: %v", err)
			case tt.want != "" && (err == nil || err.Reason != "SysctlForbidden" || !strings.Contains(err.Message, tt.want)):
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

func TestUnsafeSysctlsMustBeNamespaced(t *testing.T) {
	for _, pattern := range []string{"vm.*", "vm.swappiness", "*", "", "net.*.x*", "kernel.*"} {
		if _, err := NewSysctls([]string{pattern}); err == nil {
			t.Errorf("%q is allowed", pattern)
		}
	}
}

func TestWhatTheNodeCannotDoIsRefused(t *testing.T) {
	with := func(change func(*corev1.Pod)) *corev1.Pod {
		pod := &corev1.Pod{Spec: corev1.PodSpec{SecurityContext: &corev1.PodSecurityContext{}, Containers: []corev1.Container{{SecurityContext: &corev1.SecurityContext{}}}}}
		change(pod)
		return pod
	}
	profile := func(t corev1.AppArmorProfileType) *corev1.AppArmorProfile { return &corev1.AppArmorProfile{Type: t} }
	ownUsers := with(func(p *corev1.Pod) { p.Spec.HostUsers = ptr.To(false) })
	strict := with(func(p *corev1.Pod) {
		p.Spec.SecurityContext.SupplementalGroupsPolicy = ptr.To(corev1.SupplementalGroupsPolicyStrict)
	})
	able := func(is bool) *corev1.Node {
		return &corev1.Node{Status: corev1.NodeStatus{
			RuntimeHandlers: []corev1.NodeRuntimeHandler{
				{Name: "other", Features: &corev1.NodeRuntimeHandlerFeatures{UserNamespaces: ptr.To(true)}},
				{Features: &corev1.NodeRuntimeHandlerFeatures{UserNamespaces: &is}},
			},
			Features: &corev1.NodeFeatures{SupplementalGroupsPolicy: &is},
		}}
	}
	for name, tt := range map[string]struct {
		pod      *corev1.Pod
		node     *corev1.Node
		apparmor bool
		reason   string
	}{
		"AppArmor of the pod":        {with(func(p *corev1.Pod) { p.Spec.SecurityContext.AppArmorProfile = profile("RuntimeDefault") }), able(true), false, "AppArmor"},
		"AppArmor of a container":    {with(func(p *corev1.Pod) { p.Spec.Containers[0].SecurityContext.AppArmorProfile = profile("Localhost") }), able(true), false, "AppArmor"},
		"AppArmor that is there":     {with(func(p *corev1.Pod) { p.Spec.SecurityContext.AppArmorProfile = profile("RuntimeDefault") }), able(true), true, ""},
		"no AppArmor is asked for":   {with(func(p *corev1.Pod) { p.Spec.SecurityContext.AppArmorProfile = profile("Unconfined") }), able(true), false, ""},
		"users":                      {ownUsers, able(true), false, ""},
		"no users":                   {ownUsers, able(false), false, "UserNamespacesNotSupported"},
		"the runtime says nothing":   {ownUsers, &corev1.Node{}, false, ""},
		"strict groups":              {strict, able(true), false, ""},
		"no strict groups":           {strict, able(false), false, "SupplementalGroupsPolicyNotSupported"},
		"what nobody asks for":       {with(func(*corev1.Pod) {}), able(false), false, ""},
		"groups, nothing was said":   {strict, &corev1.Node{}, false, ""},
		"users by a class of theirs": {with(func(p *corev1.Pod) { p.Spec.HostUsers, p.Spec.RuntimeClassName = ptr.To(false), ptr.To("x") }), able(false), false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			m := machine(t)
			m.AppArmor = tt.apparmor
			reason := ""
			if err := Admit(tt.pod, nil, tt.node, m); err != nil {
				reason = err.Reason
			}
			if reason != tt.reason {
				t.Errorf("reason %q, want %q", reason, tt.reason)
			}
		})
	}
}
