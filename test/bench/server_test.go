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
)

// podRange is what the server gives to its nodes.
const podRange = "10.213.0.0/16"

// apiServer is a server, a process of its own.
type apiServer struct {
	server *exec.Cmd
	http   string // address
	grpc   string // address
	url    string
}

// startServer starts a server that keeps its things in dir.
func startServer(b *testing.B, dir string) *apiServer {
	b.Helper()
	s := &apiServer{http: freeAddress(b), grpc: freeAddress(b)}
	s.url = "http://" + s.http
	s.server = start(b, dir, program(buildDir(b)), "server", "--data-dir", filepath.Join(dir, "server"), "--http", s.http,
		"--grpc", s.grpc, "--socket", filepath.Join(dir, "berth.sock"), "--cluster-cidr", podRange)
	return s
}

// buildDir is where make puts what it builds.
func buildDir(b *testing.B) string {
	b.Helper()
	bin, err := filepath.Abs("../../bin")
	if err != nil {
		b.Fatal(err)
	}
	return bin
}

// program is the berth that is measured.
func program(bin string) string { return cmp.Or(os.Getenv("BERTH"), filepath.Join(bin, "berth")) }

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

// call makes a REST request. in, unless nil, is its body; out, unless nil, takes
// the answer.
func (s *apiServer) call(ctx context.Context, method, path string, in, out any) error {
	var body bytes.Buffer
	if in != nil {
		if err := json.NewEncoder(&body).Encode(in); err != nil {
			return err
		}
	}
	request, err := http.NewRequestWithContext(ctx, method, s.url+path, &body)
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

// cpu returns how long a process has worked.
func cpu(b *testing.B, p *exec.Cmd) time.Duration {
	b.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.Process.Pid))
	if err != nil {
		b.Fatal(err)
	}
	const ticksPerSecond = 100 // USER_HZ
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	var ticks int
	for _, field := range fields[11:13] { // utime and stime
		n, err := strconv.Atoi(field)
		if err != nil {
			b.Fatal(err)
		}
		ticks += n
	}
	return time.Duration(ticks) * time.Second / ticksPerSecond
}
