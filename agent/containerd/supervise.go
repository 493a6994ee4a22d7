// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package containerd

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
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
	unlock, err := r.lock()
	if err != nil {
		return err
	}
	defer unlock()
	changed, err := r.prepare()
	if err != nil {
		return err
	}
	if err := r.retire(ctx, changed); err != nil && ctx.Err() == nil {
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
	return fmt.Errorf("process %d ended: %s", h.PID, lastLine(r.logFile()))
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
	r.record(e.process)
	return e.open()
}

func (r *Runtime) arguments() []string { return []string{"--config", r.configFile()} }

// environment is the agent's own, without its service manager's socket, and with the
// node runtime first in the search path.
func environment(own []string, binDir string) []string {
	path := "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
	var env []string
	for _, v := range own {
		name, value, _ := strings.Cut(v, "=")
		switch name {
		case "NOTIFY_SOCKET":
		case "PATH":
			path = value
		default:
			env = append(env, v)
		}
	}
	return append(env, "PATH="+binDir+":"+path)
}
