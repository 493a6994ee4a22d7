// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package containerd

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestParseStat(t *testing.T) {
	const tail = " 0 0 20 0 1 0 4711 1000 10"
	for name, test := range map[string]struct {
		line string
		want procStat
		ok   bool
	}{
		"plain":              {"12 (sh) S 7 1 1 0 -1 0 0 0 0 0 0 0" + tail, procStat{'S', 7, 4711}, true},
		"brackets in a name": {"12 (a) Z 9 (b c)) R 7 1 1 0 -1 0 0 0 0 0 0 0" + tail, procStat{'R', 7, 4711}, true},
		"empty":              {"", procStat{}, false},
		"too short":          {"12 (sh) S 7 1", procStat{}, false},
		"no number":          {"12 (sh) S seven 1 1 0 -1 0 0 0 0 0 0 0" + tail, procStat{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := parseStat([]byte(test.line))
			if (err == nil) != test.ok || got != test.want {
				t.Errorf("parseStat(%q) = %v, %v; want %v", test.line, got, err, test.want)
			}
		})
	}
}

// startSleep starts a program that runs until it is killed.
func startSleep(t *testing.T) process {
	t.Helper()
	cmd := exec.Command("sleep", "600")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	e, err := inspect(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	return e.process
}

func TestProcessIsMoreThanItsPid(t *testing.T) {
	p := startSleep(t)
	if !p.alive() {
		t.Error("the process is not alive")
	}
	earlier, other, initial := p, p, p
	earlier.StartTime--
	other.Executable = "/bin/other"
	initial.PID = 1
	for name, stranger := range map[string]process{"start time": earlier, "executable": other, "pid": initial, "none": {}} {
		if stranger.alive() {
			t.Errorf("a process with another %s is taken for it", name)
		}
		if _, err := stranger.open(); !errors.Is(err, os.ErrProcessDone) {
			t.Errorf("open with another %s: %v", name, err)
		}
	}
}

func TestReplacedExecutableIsStale(t *testing.T) {
	program := filepath.Join(t.TempDir(), "program")
	install := func() {
		t.Helper()
		body, err := os.ReadFile("/bin/sleep")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := writeIfChanged(program, body); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(program, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	install()
	cmd := exec.Command(program, "600")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	e, err := inspect(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	if e.stale() {
		t.Error("stale before it was replaced")
	}
	if err := os.Remove(program); err != nil {
		t.Fatal(err)
	}
	install()
	if !e.stale() || !e.alive() {
		t.Errorf("after it was replaced: stale %t, alive %t; want both", e.stale(), e.alive())
	}
}

func TestHandleWaits(t *testing.T) {
	h, err := startSleep(t).open()
	if err != nil {
		t.Fatal(err)
	}
	defer h.close()
	ctx, cancel := context.WithCancel(t.Context())
	waited := make(chan error, 1)
	go func() { waited <- h.wait(ctx) }()
	cancel()
	if err := <-waited; !errors.Is(err, context.Canceled) {
		t.Errorf("wait with an ended context = %v", err)
	}
	if err := h.signal(unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if err := h.wait(t.Context()); err != nil {
		t.Errorf("wait for a killed process = %v", err)
	}
	if h.alive() {
		t.Error("alive after wait")
	}
}

func TestEndKillsWhatIgnoresSIGTERM(t *testing.T) {
	cmd := exec.Command("sh", "-c", `trap "" TERM; echo ready; while :; do sleep 1; done`)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 6)); err != nil {
		t.Fatal(err)
	}
	e, err := inspect(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	h, err := e.open()
	if err != nil {
		t.Fatal(err)
	}
	defer h.close()
	if err := h.end(t.Context(), 50*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	if e.alive() {
		t.Error("alive after end")
	}
	_ = cmd.Wait()
}
