// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podruntime

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

const hostsHeader = "# Written by berth; changes are lost when a container starts.\n"

// writeHosts writes the pod's /etc/hosts, which all its containers share, and
// returns where it lies. It is written in place: running containers have it
// mounted.
func (r *Runtime) writeHosts(pod *corev1.Pod, podIPs []string) (string, error) {
	content, err := r.hostsFile(pod, podIPs)
	if err != nil {
		return "", err
	}
	path := filepath.Join(r.cfg.PodDir(pod.UID), "etc-hosts")
	err = os.WriteFile(path, content, 0o644)
	if os.IsNotExist(err) {
		if err = os.MkdirAll(filepath.Dir(path), 0o750); err == nil {
			err = os.WriteFile(path, content, 0o644)
		}
	}
	if err != nil {
		return "", fmt.Errorf("hosts file of the pod: %w", err)
	}
	return path, nil
}

// hostsFile is the node's for a pod in its network, with the aliases of the pod.
func (r *Runtime) hostsFile(pod *corev1.Pod, podIPs []string) ([]byte, error) {
	if !pod.Spec.HostNetwork {
		name, domain := podHostname(pod, r.cfg.ClusterDomain)
		return append(podHosts(name, domain, podIPs), hostAliases(pod.Spec.HostAliases)...), nil
	}
	content, err := os.ReadFile("/etc/hosts")
	if err != nil {
		return nil, fmt.Errorf("hosts file of the node: %w", err)
	}
	return append(append([]byte(hostsHeader), content...), hostAliases(pod.Spec.HostAliases)...), nil
}

// podHosts names the machine itself, the usual groups of IPv6, and the pod.
func podHosts(name, domain string, podIPs []string) []byte {
	var b strings.Builder
	b.WriteString(hostsHeader)
	b.WriteString("127.0.0.1\tlocalhost\n")
	b.WriteString("::1\tlocalhost ip6-localhost ip6-loopback\n")
	b.WriteString("fe00::0\tip6-localnet\n")
	b.WriteString("fe00::0\tip6-mcastprefix\n")
	b.WriteString("fe00::1\tip6-allnodes\n")
	b.WriteString("fe00::2\tip6-allrouters\n")
	for _, ip := range podIPs {
		if domain != "" {
			fmt.Fprintf(&b, "%s\t%s.%s\t%s\n", ip, name, domain, name)
		} else {
			fmt.Fprintf(&b, "%s\t%s\n", ip, name)
		}
	}
	return []byte(b.String())
}

func hostAliases(aliases []corev1.HostAlias) []byte {
	if len(aliases) == 0 {
		return nil
	}
	var b strings.Builder
	b.WriteString("\n# Entries added by HostAliases.\n")
	for _, a := range aliases {
		fmt.Fprintf(&b, "%s\t%s\n", a.IP, strings.Join(a.Hostnames, "\t"))
	}
	return []byte(b.String())
}
