// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package harness runs berth as users do: a server and some agents as processes,
// each agent with a containerd of its own. It can kill and restart them, and
// checks that nothing of them is left in the end.
package harness

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync/atomic"
)

// Suite is what clusters share: the program under test, built anew, and the
// runtime.
type Suite struct {
	Root       string // of the repository
	Dir        string // for all that the tests make
	Berth      string // the program
	RuntimeDir string
}

// NewSuite builds berth into a new directory.
func NewSuite() (*Suite, error) {
	_, file, _, _ := runtime.Caller(0)
	root := filepath.Join(filepath.Dir(file), "..", "..", "..")
	dir, err := os.MkdirTemp("", "berth-e2e-")
	if err != nil {
		return nil, err
	}
	s := &Suite{Root: root, Dir: dir, Berth: filepath.Join(dir, "berth"), RuntimeDir: filepath.Join(root, "bin", "runtime")}
	build := exec.Command("go", "build", "-o", s.Berth, "./cmd/berth")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		return nil, errors.Join(fmt.Errorf("build berth: %w\n%s", err, out), s.Close())
	}
	return s, nil
}

// Close removes the suite's directory, unless BERTH_KEEP is set: the logs are
// there.
func (s *Suite) Close() error {
	if os.Getenv("BERTH_KEEP") != "" {
		fmt.Fprintln(os.Stderr, "logs are kept in", s.Dir)
		return nil
	}
	return os.RemoveAll(s.Dir)
}

// Missing says why the tests cannot run on this machine; empty if they can.
func Missing() string {
	if os.Getuid() != 0 {
		return "not root"
	}
	_, file, _, _ := runtime.Caller(0)
	containerd := filepath.Join(filepath.Dir(file), "..", "..", "..", "bin", "runtime", "containerd")
	if _, err := os.Stat(containerd); err != nil {
		return "no runtime: run make runtime"
	}
	return ""
}

// Cluster is a server and its nodes.
type Cluster struct {
	*Client
	Suite  *Suite
	Server *Process
	Nodes  []*Node
	// GRPC is the server's gRPC address, Socket the path of its unix socket.
	GRPC, Socket string

	dir  string
	cidr string
}

// clusters counts the clusters of this process: each has a pod range of its own,
// as all share one machine.
var clusters atomic.Int32

// NewCluster prepares a cluster without nodes; Start starts the server.
func (s *Suite) NewCluster() (*Cluster, error) {
	n := clusters.Add(1)
	dir := filepath.Join(s.Dir, fmt.Sprint("c", n))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	addresses, err := freeAddresses(2)
	if err != nil {
		return nil, err
	}
	c := &Cluster{
		Client: NewClient("http://" + addresses[0]), Suite: s, GRPC: addresses[1],
		Socket: filepath.Join(dir, "berth.sock"), dir: dir, cidr: fmt.Sprintf("10.%d.0.0/16", 150+n%90),
	}
	c.Server = &Process{Name: "server", Log: filepath.Join(dir, "server.log"), Args: []string{
		s.Berth, "server", "--data-dir", filepath.Join(dir, "server"), "--http", addresses[0], "--grpc", c.GRPC,
		"--socket", c.Socket, "--cluster-cidr", c.cidr, "--log-level", "debug",
	}}
	return c, nil
}

// Start starts the server and nodes node1 to nodeN, whose agents have those further
// flags, and waits until they are ready.
func (c *Cluster) Start(ctx context.Context, nodes int, flags ...string) error {
	if err := c.Server.Start(); err != nil {
		return err
	}
	if err := c.WaitServer(ctx); err != nil {
		return err
	}
	for i := range nodes {
		n, err := c.AddNode(fmt.Sprint("node", i+1), flags...)
		if err == nil {
			err = n.Start()
		}
		if err != nil {
			return err
		}
	}
	for _, n := range c.Nodes {
		if err := c.WaitNodeReady(ctx, n.Name); err != nil {
			return err
		}
	}
	return nil
}

// Close ends all processes, removes what the nodes took of the machine, and
// returns what is left nevertheless as an error.
func (c *Cluster) Close() error {
	var errs []error
	for _, n := range c.Nodes {
		errs = append(errs, n.Stop())
	}
	errs = append(errs, c.Server.Stop())
	for _, n := range c.Nodes {
		errs = append(errs, n.teardown())
		for _, left := range n.Leftovers() {
			errs = append(errs, fmt.Errorf("%s left %s", n.Name, left))
		}
	}
	return errors.Join(errs...)
}

// freeAddresses finds loopback addresses that nobody listens on.
func freeAddresses(n int) ([]string, error) {
	var out []string
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer l.Close()
		out = append(out, l.Addr().String())
	}
	return out, nil
}
