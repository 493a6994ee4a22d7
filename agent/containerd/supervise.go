// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package containerd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
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

	// answerTimeout is how long an adopted containerd may take to answer, and how often
	// it is told that a new one does not answer yet.
	answerTimeout = 10 * time.Second
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
	for first := true; ; first = false {
		began := time.Now()
		err := r.superviseOnce(ctx, first)
		if ctx.Err() != nil {
			return nil
		}
		r.setTrouble(err)
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
func (r *Runtime) superviseOnce(ctx context.Context, first bool) error {
	h, err := r.adopt()
	adopted := err == nil
	if !adopted {
		h, err = r.start()
	}
	if err != nil {
		return err
	}
	defer h.close()
	if err := r.serves(ctx, h, adopted); err != nil {
		return err
	}
	r.setTrouble(nil)
	err = r.attend(ctx, h, !first && !adopted)
	if err == nil {
		err = fmt.Errorf("process %d ended: %s", h.PID, lastLine(r.logFile()))
	}
	return err
}

// serves waits until containerd answers or has ended. Whatever an adopted one lacks,
// such as its socket, it will not get: unless it answers in time it is ended, and its
// pods go on. A new one may have much to load.
func (r *Runtime) serves(ctx context.Context, h *handle, adopted bool) error {
	for {
		bounded, cancel := context.WithTimeout(ctx, answerTimeout)
		err := r.answers(bounded, h)
		cancel()
		if err == nil || ctx.Err() != nil {
			return ctx.Err()
		}
		if adopted {
			return errors.Join(fmt.Errorf("process %d did not answer at %s within %s", h.PID, r.socket(), answerTimeout), h.end(ctx, termGrace))
		}
		r.log.Warn("containerd does not answer yet", "pid", h.PID, "socket", r.socket(), "log", r.logFile())
	}
}

// attend waits for the end of containerd, and meanwhile for shims that it does not
// know. One that is new to a running agent is given the images, as it may have lost
// those that it had.
func (r *Runtime) attend(ctx context.Context, h *handle, isNew bool) error {
	ctx, cancel := context.WithCancel(ctx)
	var helpers sync.WaitGroup
	defer helpers.Wait()
	defer cancel()
	helpers.Go(func() { r.watchOrphans(ctx, h.process) })
	if isNew {
		helpers.Go(func() { r.giveImages(ctx) })
	}
	return h.wait(ctx)
}

func (r *Runtime) giveImages(ctx context.Context) {
	err := r.Ready(ctx)
	if err == nil {
		err = r.ImportImages(ctx)
	}
	if err != nil && ctx.Err() == nil {
		r.log.Error("the new containerd cannot be given the images", "err", err)
	}
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
		r.log.Info("containerd adopted; waiting for its answer", "pid", h.PID, "socket", r.socket())
		return nil
	}
	r.log.Info("containerd is replaced: its configuration or executable changed", "pid", h.PID)
	return h.end(ctx, termGrace)
}

// start runs containerd in a session of its own, with its output in the log file. What
// it needs is made again if it was removed.
func (r *Runtime) start() (*handle, error) {
	if _, err := r.prepare(); err != nil {
		return nil, err
	}
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
