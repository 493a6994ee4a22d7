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
	content := hostsFile(pod, podIPs)
	if pod.Spec.HostNetwork {
		var err error
		if content, err = os.ReadFile("/etc/hosts"); err != nil {
			return "", fmt.Errorf("hosts file of the node: %w", err)
		}
	}
	path := filepath.Join(r.cfg.PodDir(pod.UID), "etc-hosts")
	err := os.WriteFile(path, content, 0o644)
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

// hostsFile names the machine itself, the usual groups of IPv6, and the pod.
func hostsFile(pod *corev1.Pod, podIPs []string) []byte {
	var b strings.Builder
	b.WriteString(hostsHeader)
	b.WriteString("127.0.0.1\tlocalhost\n")
	b.WriteString("::1\tlocalhost ip6-localhost ip6-loopback\n")
	b.WriteString("fe00::0\tip6-localnet\n")
	b.WriteString("fe00::0\tip6-mcastprefix\n")
	b.WriteString("fe00::1\tip6-allnodes\n")
	b.WriteString("fe00::2\tip6-allrouters\n")
	for _, ip := range podIPs {
		fmt.Fprintf(&b, "%s\t%s\n", ip, podHostname(pod))
	}
	return []byte(b.String())
}

// podHostname is the pod's name, cut to the 63 bytes that a host's name may have.
func podHostname(pod *corev1.Pod) string {
	name := pod.Spec.Hostname
	if name == "" {
		name = pod.Name
	}
	if len(name) > 63 {
		name = strings.TrimRight(name[:63], "-.")
	}
	return name
}
