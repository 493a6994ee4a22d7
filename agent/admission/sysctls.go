// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/node/util/sysctl"

	"github.com/berth-run/berth/agent/podtypes"
)

// safeSysctls are those that a pod can set without a word of the node's owner: they
// are of its own namespaces alone, and take nothing from other pods.
var safeSysctls = []string{
	"kernel.shm_rmid_forced",
	"net.ipv4.ip_local_port_range",
	"net.ipv4.ip_local_reserved_ports",
	"net.ipv4.ip_unprivileged_port_start",
	"net.ipv4.ping_group_range",
	"net.ipv4.tcp_fin_timeout",
	"net.ipv4.tcp_keepalive_intvl",
	"net.ipv4.tcp_keepalive_probes",
	"net.ipv4.tcp_keepalive_time",
	"net.ipv4.tcp_rmem",
	"net.ipv4.tcp_syncookies",
	"net.ipv4.tcp_wmem",
}

// Sysctls are those that pods may set: names, or beginnings of names.
type Sysctls struct {
	names    map[string]sysctl.Namespace
	prefixes map[string]sysctl.Namespace
}

// NewSysctls allows the safe ones and those that the node's owner allows besides,
// which may end in *. One that is not of a namespace would be the whole machine's.
func NewSysctls(unsafe []string) (*Sysctls, error) {
	s := &Sysctls{names: map[string]sysctl.Namespace{}, prefixes: map[string]sysctl.Namespace{}}
	for _, pattern := range append(safeSysctls[:len(safeSysctls):len(safeSysctls)], unsafe...) {
		name, isPrefix := strings.CutSuffix(sysctl.NormalizeName(pattern), "*")
		ns, _, _ := sysctl.GetNamespace(strings.TrimSuffix(name, "."))
		switch {
		case name == "" || strings.Contains(name, "*"):
			return nil, fmt.Errorf("sysctl %q: want a name, or its beginning and *", pattern)
		case ns == sysctl.UnknownNamespace:
			return nil, fmt.Errorf("the sysctls %q are not known to be namespaced", pattern)
		case isPrefix:
			s.prefixes[name] = ns
		default:
			s.names[name] = ns
		}
	}
	return s, nil
}

// check returns why the pod may not set one of its sysctls, or nil.
func (s *Sysctls) check(pod *corev1.Pod) *podtypes.RejectError {
	if pod.Spec.SecurityContext == nil {
		return nil
	}
	for _, set := range pod.Spec.SecurityContext.Sysctls {
		if err := s.allow(sysctl.NormalizeName(set.Name), &pod.Spec); err != nil {
			return &podtypes.RejectError{Reason: "SysctlForbidden", Message: "forbidden sysctl: " + err.Error()}
		}
	}
	return nil
}

func (s *Sysctls) allow(name string, spec *corev1.PodSpec) error {
	ns, found := s.names[name]
	for prefix, of := range s.prefixes {
		if !found && strings.HasPrefix(name, prefix) {
			ns, found = of, true
		}
	}
	switch {
	case !found:
		return fmt.Errorf("%q not allowlisted", name)
	case ns == sysctl.IPCNamespace && spec.HostIPC, ns == sysctl.NetNamespace && spec.HostNetwork:
		return fmt.Errorf("%q not allowed with host %s enabled", name, strings.ToLower(string(ns)))
	}
	return nil
}
