// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package containerd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// The pause before a restart doubles from restartMin to restartMax; a daemon that ran
// for steadyAfter is started again at once.
const (
	restartMin  = 100 * time.Millisecond
	restartMax  = 10 * time.Second
	steadyAfter = 30 * time.Second

	// termGrace is how long containerd may take to end by itself.
	termGrace = 10 * time.Second
)

// Run starts containerd, or adopts the one that a former agent left, and starts it
// again whenever it ends. When the context ends Run returns nil and containerd goes
// on; Stop ends it. Run fails at once if the node runtime is not installed, the
// directories cannot be written, or another Run owns them.
func (r *Runtime) Run(ctx context.Context) error {
	changed, err := r.prepare()
	if err != nil {
		return err
	}
	unlock, err := r.lock()
	if err != nil {
		return err
	}
	defer unlock()
	if err := r.retire(ctx, changed); err != nil {
		return err
	}
	var pause time.Duration
	for {
		began := time.Now()
		err := r.superviseOnce(ctx)
		if ctx.Err() != nil {
			return nil
		}
		pause = nextPause(pause, time.Since(began))
		r.log.Error("containerd ended; starting it again", "err", err, "in", pause, "log", r.logFile())
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pause):
		}
	}
}

// nextPause is how long to wait before the next start, after the last one ran for uptime.
func nextPause(last, uptime time.Duration) time.Duration {
	switch {
	case uptime >= steadyAfter:
		return 0
	case last == 0:
		return restartMin
	default:
		return min(2*last, restartMax)
	}
}

// superviseOnce has one containerd run and returns when it has ended.
func (r *Runtime) superviseOnce(ctx context.Context) error {
	h, err := r.adopt()
	if err != nil {
		if h, err = r.start(); err != nil {
			return err
		}
	}
	defer h.close()
	if err := h.wait(ctx); err != nil {
		return err
	}
	return fmt.Errorf("process %d ended", h.PID)
}

// retire ends a running containerd whose configuration or executable is not the
// present one. Its pods go on.
func (r *Runtime) retire(ctx context.Context, configChanged bool) error {
	h, err := r.adopt()
	if err != nil {
		return nil
	}
	defer h.close()
	if !configChanged && !h.stale() {
		r.log.Info("containerd adopted", "pid", h.PID)
		return nil
	}
	r.log.Info("containerd is replaced: its configuration or executable changed", "pid", h.PID)
	return h.end(ctx, termGrace)
}

// start runs containerd in a session of its own, with its output in the log file.
func (r *Runtime) start() (*handle, error) {
	output, err := r.openLog()
	if err != nil {
		return nil, err
	}
	defer output.Close()
	cmd := exec.Command(r.program(), r.arguments()...)
	cmd.Env = environment(os.Environ(), r.cfg.BinDir)
	cmd.Dir = r.cfg.Dir
	cmd.Stdout, cmd.Stderr = output, output
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("containerd: %w", err)
	}
	pid := cmd.Process.Pid
	// The handle waits for it; the os package need not.
	_ = cmd.Process.Release()
	e, err := inspect(pid)
	if err != nil {
		reap(pid)
		return nil, fmt.Errorf("containerd: ended at once, see %s: %w", r.logFile(), err)
	}
	r.log.Info("containerd started", "pid", pid)
	if err := r.record(e.process); err != nil {
		return nil, err
	}
	return e.open()
}

func (r *Runtime) arguments() []string { return []string{"--config", r.configFile()} }

// environment is the agent's own, without its service manager's socket, and with the
// node runtime first in the search path.
func environment(own []string, binDir string) []string {
	env := slices.DeleteFunc(slices.Clone(own), func(v string) bool {
		return strings.HasPrefix(v, "NOTIFY_SOCKET=") || strings.HasPrefix(v, "PATH=")
	})
	path := os.Getenv("PATH")
	if path == "" {
		path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
	}
	return append(env, "PATH="+binDir+":"+path)
}

// openLog keeps the log of the run before, so that a crash can be read.
func (r *Runtime) openLog() (*os.File, error) {
	_ = os.Rename(r.logFile(), r.logFile()+".1")
	return os.OpenFile(r.logFile(), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o640)
}

// lock keeps a second supervisor away from the same directories.
func (r *Runtime) lock() (unlock func(), err error) {
	path := filepath.Join(r.cfg.RunDir, "supervisor.lock")
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("containerd: %w", err)
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		f.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, fmt.Errorf("containerd: another agent runs node %s (it holds %s)", r.cfg.NodeID, path)
		}
		return nil, fmt.Errorf("containerd: lock %s: %w", path, err)
	}
	return func() { f.Close() }, nil
}
