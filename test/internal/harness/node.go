// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/berth-run/berth/agent"
	"github.com/berth-run/berth/agent/cri"
	"github.com/berth-run/berth/internal/mounts"
)

// Node is an agent and where it keeps its things.
type Node struct {
	*Process
	Name     string
	ID       string
	StateDir string

	health *Client
	config agent.Config
}

// AddNode prepares a node; flags are further flags of its agent.
func (c *Cluster) AddNode(name string, flags ...string) (*Node, error) {
	health, err := freeAddresses(1)
	if err != nil {
		return nil, err
	}
	state := filepath.Join(c.dir, name)
	n := &Node{Name: name, ID: agent.NodeID(state), StateDir: state, health: NewClient("http://" + health[0])}
	n.config = agent.Config{
		StateDir: state, RuntimeDir: c.Suite.RuntimeDir, ClusterCIDR: netip.MustParsePrefix(c.cidr),
		Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
	}
	n.Process = &Process{Name: name, Log: filepath.Join(c.dir, name+".log"), Args: append([]string{
		c.Suite.Berth, "agent", "--node-name", name, "--server", c.GRPC, "--state-dir", state,
		"--runtime-dir", c.Suite.RuntimeDir, "--cluster-cidr", c.cidr, "--health", health[0], "--log-level", "debug",
	}, flags...)}
	c.Nodes = append(c.Nodes, n)
	return n, os.MkdirAll(n.CertsDir(), 0o755)
}

// WaitHealthy waits until the agent says that it works.
func (n *Node) WaitHealthy(ctx context.Context) error {
	return Poll(ctx, n.Name+" is healthy", func() (bool, error) {
		_, err := n.health.Text(ctx, "/healthz")
		return err == nil, nil
	})
}

// Metrics returns what the agent tells of itself.
func (n *Node) Metrics(ctx context.Context) (string, error) { return n.health.Text(ctx, "/metrics") }

// CertsDir is where the node's containerd looks for how to reach registries.
func (n *Node) CertsDir() string { return filepath.Join(n.StateDir, "containerd", "certs.d") }

// PodDir is the directory of a pod's volumes.
func (n *Node) PodDir(uid string) string { return filepath.Join(n.StateDir, "pods", uid) }

// Endpoint is the socket of the node's containerd.
func (n *Node) Endpoint() (string, error) {
	r, err := agent.OwnRuntime(n.config)
	if err != nil {
		return "", err
	}
	return r.Endpoint(), nil
}

// CRI connects to the node's containerd.
func (n *Node) CRI() (*cri.Client, error) {
	endpoint, err := n.Endpoint()
	if err != nil {
		return nil, err
	}
	return cri.Dial(endpoint)
}

// teardown removes the node's containerd and pods, and the volumes of those that the
// agent was still releasing. It must have ended.
func (n *Node) teardown() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	r, err := agent.OwnRuntime(n.config)
	if err != nil {
		return err
	}
	return errors.Join(r.Teardown(ctx), mounts.UnmountBelow(filepath.Join(n.StateDir, "pods"), unix.MNT_DETACH))
}

// ContainerPID is the process of a running container.
func (n *Node) ContainerPID(id string) (int, error) {
	client, err := n.CRI()
	if err != nil {
		return 0, err
	}
	defer client.Close()
	reply, err := client.Runtime.ContainerStatus(context.Background(), &runtimeapi.ContainerStatusRequest{ContainerId: id, Verbose: true})
	if err != nil {
		return 0, err
	}
	var info struct{ PID int }
	if err := json.Unmarshal([]byte(reply.Info["info"]), &info); err != nil {
		return 0, fmt.Errorf("container %s: %w", id, err)
	}
	return info.PID, nil
}
