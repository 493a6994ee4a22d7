// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/berth-run/berth/agent"
	"github.com/berth-run/berth/test/internal/harness"
)

func TestDevDownRemovesWhatDevMade(t *testing.T) {
	w := own(t, 0)
	dir := filepath.Join(t.TempDir(), "dev")
	http, down := unused(t), []string{"dev", "down", "--dir", dir}
	args := []string{suite.Berth, "dev", "--nodes", "2", "--dir", dir, "--runtime-dir", suite.RuntimeDir,
		"--http", http, "--grpc", unused(t), "--socket", "", "--cluster-cidr", "10.149.0.0/16"}
	dev := &harness.Process{Name: "dev", Log: filepath.Join(t.TempDir(), "dev.log"), Args: args}
	if err := dev.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := dev.Stop(); err != nil {
			t.Error(err)
		}
		w.down(0, "", down...)
	})
	c := &harness.Cluster{Client: harness.NewClient("http://" + http)}
	for _, name := range []string{"node1", "node2"} {
		if err := c.WaitNodeReady(w.ctx(), name); err != nil {
			t.Fatal(err, dev.Tail(4000))
		}
	}
	w.down(1, "berth dev runs there; stop it first", down...)
	w.down(1, "another berth dev runs there", args[1:]...)
	if err := dev.Stop(); err != nil {
		t.Fatal(err)
	}

	foreign := filepath.Join(dir, "node9", "file")
	if err := os.MkdirAll(filepath.Dir(foreign), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(foreign, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	w.killedOften(down...)
	for range 2 {
		w.down(0, "kept=[node9]", down...)
	}
	if _, err := os.Stat(foreign); err != nil {
		t.Error(err)
	}
	for _, name := range []string{"node1", "node2"} {
		state := filepath.Join(dir, name)
		w.nothingLeft(&harness.Node{Name: name, ID: agent.NodeID(state), StateDir: state})
	}
	if err := os.RemoveAll(filepath.Dir(foreign)); err != nil {
		t.Fatal(err)
	}
	w.down(0, "", down...)
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("%s: %v", dir, err)
	}
	w.down(0, "nothing is there", down...)
}

// unused is a loopback address that nobody listens on.
func unused(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}
