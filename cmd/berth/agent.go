// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/berth-run/berth/agent"
	"github.com/berth-run/berth/agent/podruntime/images"
	"github.com/berth-run/berth/cli"
	"github.com/berth-run/berth/server"
)

const defaultAgentDir = "/var/lib/berth/agent"

// runtimeVariable names the environment variable for the node runtime's directory.
const runtimeVariable = "BERTH_RUNTIME_DIR"

// defaultRuntimeDir is the directory runtime beside the program, where make puts it.
func defaultRuntimeDir() string {
	if dir := os.Getenv(runtimeVariable); dir != "" {
		return dir
	}
	program, err := os.Executable()
	if err != nil {
		return "/usr/lib/berth/runtime"
	}
	return filepath.Join(filepath.Dir(program), "runtime")
}

func agentCommand() *cobra.Command {
	var logs logFlags
	var clusterCIDR string
	cfg := agent.Config{MaxPods: agent.DefaultMaxPods}
	c := &cobra.Command{
		Use:   "agent",
		Short: "Run this machine as a node",
		Long: "Run this machine as a node until Ctrl-C. Its pods run on then, and are found again by the next start;\n" +
			"berth agent down removes everything.",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) (err error) {
			if cfg.Logger, err = logs.logger(); err != nil {
				return err
			}
			if cfg.ClusterCIDR, err = netip.ParsePrefix(clusterCIDR); err != nil {
				return cli.UsageError(fmt.Errorf("--cluster-cidr: %w", err))
			}
			a, err := agent.New(cfg)
			if err != nil {
				return err
			}
			return a.Run(c.Context())
		},
	}
	hostname, _ := os.Hostname()
	f := c.Flags()
	f.StringVar(&cfg.Name, "node-name", strings.ToLower(cmp.Or(hostname, "node")), "name of the node")
	f.StringVar(&cfg.Server, "server", cli.Server(), cli.ServerUsage)
	f.StringVar(&cfg.StateDir, "state-dir", defaultAgentDir, "directory of the node's state")
	f.StringVar(&cfg.RuntimeEndpoint, "runtime-endpoint", "", "CRI socket of a runtime that is there already; empty means the node's own containerd")
	f.StringVar(&cfg.RuntimeDir, "runtime-dir", defaultRuntimeDir(), "directory of containerd, runc and the CNI plugins ($"+runtimeVariable+")")
	f.StringVar(&cfg.ImagesDir, "images-dir", "", "directory of image archives (*.tar, OCI or docker save) to import at start; default: images in --runtime-dir")
	f.StringVar(&clusterCIDR, "cluster-cidr", server.DefaultClusterCIDR.String(), "range of all pod addresses, as the server has it")
	f.StringSliceVar(&cfg.IPs, "node-ip", nil, "addresses of the node, primary first; default: that of the default route")
	f.StringToStringVar(&cfg.Labels, "node-labels", nil, "labels of the node, such as disk=ssd,zone=a")
	f.IntVar(&cfg.MaxPods, "max-pods", cfg.MaxPods, "how many pods the node takes")
	f.Var(reservedFlag{&cfg.Reserved}, "system-reserved", "what of the machine is not for pods, such as cpu=500m,memory=1Gi,ephemeral-storage=10Gi")
	f.IntVar(&cfg.MaxStarts, "max-starts", 8, "how many pods may be starting at once")
	f.IntVar(&cfg.MaxParallelPulls, "max-parallel-image-pulls", images.DefaultMaxParallelPulls, "how many images are pulled at once; others wait for their turn")
	f.DurationVar(&cfg.PullProgressDeadline, "image-pull-progress-deadline", images.DefaultProgressDeadline, "how long the pull of an image may stand still before it is cancelled")
	f.StringVar(&cfg.RegistryCredentials, "registry-credentials", "", "file with the node's own logins for registries, as Docker's config.json; default: config.json in --state-dir")
	f.StringVar(&cfg.ClusterDomain, "cluster-domain", agent.DefaultClusterDomain, "what the names of pods with a subdomain end in")
	f.StringSliceVar(&cfg.AllowedUnsafeSysctls, "allowed-unsafe-sysctls", nil, "sysctls that pods may set besides the safe ones, such as net.core.*,kernel.msgmax")
	f.StringVar(&cfg.Health, "health", "127.0.0.1:10248", "address of /healthz and /metrics; empty for none")
	logs.addFlags(c)
	c.AddCommand(agentDownCommand())
	return c
}
