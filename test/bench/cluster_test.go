// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-run/berth/agent"
	"github.com/berth-run/berth/agent/cri"
)

const nodeName = "node1"

// cluster is a server and a node, each a process of its own.
type cluster struct {
	server, agent *exec.Cmd
	url           string
	stateDir      string
	cri           *cri.Client
}

// newCluster returns once the node is ready. All of it is gone when b ends. The
// agent has the flags beside those that it needs.
func newCluster(b *testing.B, flags ...string) *cluster {
	b.Helper()
	bin := buildDir(b)
	dir, err := os.MkdirTemp("", "berth-bench-")
	if err != nil {
		b.Fatal(err)
	}
	c := &cluster{stateDir: filepath.Join(dir, nodeName)}
	berth := cmp.Or(os.Getenv("BERTH"), filepath.Join(bin, "berth"))
	runtimeDir := filepath.Join(bin, "runtime")
	b.Cleanup(func() { // of what the node has, after the agent has ended
		if out, err := exec.Command(berth, "agent", "down", "--state-dir", c.stateDir).CombinedOutput(); err != nil {
			b.Errorf("taking the node down: %v: %s", err, out)
		}
		if err := os.RemoveAll(dir); err != nil {
			b.Error(err)
		}
	})

	http, grpc := freeAddress(b), freeAddress(b)
	c.url = "http://" + http
	const pods = "10.213.0.0/16"
	c.server = start(b, dir, berth, "server", "--data-dir", filepath.Join(dir, "server"), "--http", http, "--grpc", grpc,
		"--socket", filepath.Join(dir, "berth.sock"), "--cluster-cidr", pods)
	c.agent = start(b, dir, berth, "agent", append([]string{"--node-name", nodeName, "--server", grpc, "--state-dir", c.stateDir,
		"--runtime-dir", runtimeDir, "--cluster-cidr", pods, "--health", ""}, flags...)...)
	c.cri, err = cri.Dial(filepath.Join(agent.RunDir(c.stateDir), "containerd.sock"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { c.cri.Close() })
	c.awaitNode(b)
	return c
}

// buildDir is where make puts what it builds.
func buildDir(b *testing.B) string {
	b.Helper()
	bin, err := filepath.Abs("../../bin")
	if err != nil {
		b.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(bin, "runtime", "containerd")); err != nil || os.Geteuid() != 0 {
		b.Skip("needs root and the node runtime of `make runtime`")
	}
	return bin
}

func freeAddress(b *testing.B) string {
	b.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// start runs a command of berth until b ends. Its log is shown if b fails.
func start(b *testing.B, dir, berth, command string, args ...string) *exec.Cmd {
	b.Helper()
	log, err := os.Create(filepath.Join(dir, command+".log"))
	if err != nil {
		b.Fatal(err)
	}
	defer log.Close()
	level := cmp.Or(os.Getenv("BERTH_LOG_LEVEL"), "info")
	p := exec.Command(berth, append([]string{command, "--log-level", level}, args...)...)
	p.Stderr = log
	if err := p.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = p.Process.Signal(syscall.SIGTERM)
		if err := p.Wait(); err != nil {
			b.Errorf("%s: %v", command, err)
		}
		if text, _ := os.ReadFile(log.Name()); b.Failed() || level == "debug" {
			b.Logf("log of %s:\n%s", command, text)
		}
	})
	return p
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

// call makes a REST request. in, unless nil, is its body; out, unless nil, takes
// the answer.
func (c *cluster) call(ctx context.Context, method, path string, in, out any) error {
	var body bytes.Buffer
	if in != nil {
		if err := json.NewEncoder(&body).Encode(in); err != nil {
			return err
		}
	}
	request, err := http.NewRequestWithContext(ctx, method, c.url+path, &body)
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode >= http.StatusBadRequest {
		return fmt.Errorf("%s %s: %s: %s", method, path, response.Status, answer)
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(answer, out)
}

// rss returns the resident memory of a process in MiB.
func rss(b *testing.B, p *exec.Cmd) float64 {
	b.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.Process.Pid))
	if err != nil {
		b.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		if field, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kib, err := strconv.ParseFloat(strings.Fields(field)[0], 64)
			if err != nil {
				b.Fatal(err)
			}
			return kib / 1024
		}
	}
	b.Fatal("a process without VmRSS")
	return 0
}
