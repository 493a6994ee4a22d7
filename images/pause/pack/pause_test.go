// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// buildPause compiles the pause program as hack/runtime.sh does, as far as matters here.
func buildPause(t *testing.T) string {
	t.Helper()
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip("needs gcc")
	}
	program := filepath.Join(t.TempDir(), "pause")
	out, err := exec.Command("gcc", "-Os", "-static", "-nostdlib", "-ffreestanding", "-fno-pie", "-no-pie",
		"-fno-stack-protector", "-o", program, "../pause.c").CombinedOutput()
	if err != nil {
		t.Fatalf("gcc: %v\n%s", err, out)
	}
	return program
}

// startInit starts the program as the first process of a PID namespace.
func startInit(t *testing.T, program string) *exec.Cmd {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root for a PID namespace")
	}
	cmd := exec.Command(program)
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	return cmd
}

func TestPauseExitsOnSignals(t *testing.T) {
	program := buildPause(t)
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		cmd := startInit(t, program)
		eventually(t, "pause waits for signals", func() bool { return sleeps(cmd.Process.Pid) })
		if err := cmd.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("%v: %v, want exit code 0", signal, err)
		}
	}
}

func TestPauseReapsOrphans(t *testing.T) {
	if _, err := exec.LookPath("nsenter"); err != nil {
		t.Skip("needs nsenter")
	}
	cmd := startInit(t, buildPause(t))
	pid := strconv.Itoa(cmd.Process.Pid)
	// The shell ends before its child, which thereby becomes a child of pause.
	out, err := exec.Command("nsenter", "--target", pid, "--pid", "sh", "-c", "sleep 0.05 >/dev/null 2>&1 & echo $!").Output()
	if err != nil {
		t.Fatalf("nsenter: %v", err)
	}
	if len(bytes.TrimSpace(out)) == 0 {
		t.Fatal("no orphan was made")
	}
	eventually(t, "the orphan is reaped", func() bool {
		children, err := os.ReadFile(filepath.Join("/proc", pid, "task", pid, "children"))
		return err == nil && len(bytes.TrimSpace(children)) == 0
	})
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("after SIGCHLD and SIGTERM: %v", err)
	}
}

// sleeps tells whether the process waits, which pause does for signals alone.
func sleeps(pid int) bool {
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	return err == nil && strings.Contains(string(stat), ") S ")
}

func eventually(t *testing.T, what string, ask func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for range 1000 {
		if ask() {
			return
		}
		<-tick.C
	}
	t.Fatalf("never: %s", what)
}

func TestPackIsReproducible(t *testing.T) {
	dir := t.TempDir()
	program := filepath.Join(dir, "program")
	if err := os.WriteFile(program, []byte("program"), 0o755); err != nil {
		t.Fatal(err)
	}
	var archives [2][]byte
	for i := range archives {
		out := filepath.Join(dir, "pause.tar")
		if err := pack(program, out, "berth.run/pause:1"); err != nil {
			t.Fatal(err)
		}
		body, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		archives[i] = body
	}
	if !bytes.Equal(archives[0], archives[1]) {
		t.Error("the same program gives another archive")
	}
	if !bytes.Contains(archives[0], []byte(`"io.containerd.image.name": "berth.run/pause:1"`)) {
		t.Error("the archive does not name the image")
	}
}
