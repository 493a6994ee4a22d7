// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package containerd

import (
	"fmt"
	"net/netip"
	"testing"

	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// BenchmarkSandbox times a sandbox's start and its end, with the kinds of network that
// a pod can ask for. The difference to the host's network is the cost of CNI.
func BenchmarkSandbox(b *testing.B) {
	n := newTestNode(b)
	stop := n.supervise(n.Runtime)
	b.Cleanup(stop)
	n.prepareNetwork(netip.MustParsePrefix("10.251.8.0/24"))
	for _, kind := range []struct {
		name   string
		adjust func(*runtimeapi.PodSandboxConfig)
	}{
		{"host", func(c *runtimeapi.PodSandboxConfig) {
			c.Hostname = ""
			c.Linux.SecurityContext = &runtimeapi.LinuxSandboxSecurityContext{
				NamespaceOptions: &runtimeapi.NamespaceOption{Network: runtimeapi.NamespaceMode_NODE},
			}
		}},
		{"bridge", func(*runtimeapi.PodSandboxConfig) {}},
		{"hostPort", func(c *runtimeapi.PodSandboxConfig) {
			c.PortMappings = []*runtimeapi.PortMapping{{Protocol: runtimeapi.Protocol_TCP, ContainerPort: 80, HostPort: 31998}}
		}},
	} {
		b.Run(kind.name, func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				config := n.sandboxConfig(fmt.Sprintf("%s-%d", kind.name, i))
				kind.adjust(config)
				id := n.runSandbox(config)
				b.StopTimer()
				n.removeSandbox(id)
				b.StartTimer()
			}
		})
	}
}
