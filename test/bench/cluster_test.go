// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"context"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-run/berth/agent"
	"github.com/berth-run/berth/agent/cri"
)

const nodeName = "node1"

// cluster is a server and a node, each a process of its own.
type cluster struct {
	*apiServer
	agent    *exec.Cmd
	stateDir string
	cri      *cri.Client
}

// newCluster returns once the node is ready. All of it is gone when b ends. The
// agent has the flags beside those that it needs.
func newCluster(b *testing.B, flags ...string) *cluster {
	b.Helper()
	bin := buildDir(b)
	runtimeDir := filepath.Join(bin, "runtime")
	if _, err := os.Stat(filepath.Join(runtimeDir, "containerd")); err != nil || os.Geteuid() != 0 {
		b.Skip("needs root and the node runtime of `make runtime`")
	}
	dir, err := os.MkdirTemp("", "berth-bench-")
	if err != nil {
		b.Fatal(err)
	}
	c := &cluster{stateDir: filepath.Join(dir, nodeName)}
	berth := program(bin)
	b.Cleanup(func() { // of what the node has, after the agent has ended
		if out, err := exec.Command(berth, "agent", "down", "--state-dir", c.stateDir).CombinedOutput(); err != nil {
			b.Errorf("taking the node down: %v: %s", err, out)
		}
		if err := os.RemoveAll(dir); err != nil {
			b.Error(err)
		}
	})

	c.apiServer = startServer(b, dir)
	c.agent = start(b, dir, berth, "agent", append([]string{"--node-name", nodeName, "--server", c.grpc, "--state-dir", c.stateDir,
		"--runtime-dir", runtimeDir, "--cluster-cidr", podRange, "--health", ""}, flags...)...)
	c.cri, err = cri.Dial(filepath.Join(agent.RunDir(c.stateDir), "containerd.sock"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { c.cri.Close() })
	c.awaitNode(b)
	return c
}

func (c *cluster) awaitNode(b *testing.B) {
	b.Helper()
	for end := time.Now().Add(time.Minute); !c.nodeReady(b.Context()); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			b.Fatal("the node is not ready after a minute")
		}
	}
}

func (c *cluster) nodeReady(ctx context.Context) bool {
	var node corev1.Node
	if c.call(ctx, http.MethodGet, "/api/v1/nodes/"+nodeName, nil, &node) != nil {
		return false
	}
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return false
}
