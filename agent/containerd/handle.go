// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package containerd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// handle is an open reference to a process, which need not be a child: its pid
// cannot come to mean another process while the handle is used.
type handle struct {
	process
	pidfd *os.File
}

// open takes a handle of that very process; os.ErrProcessDone if it is gone.
func (p process) open() (*handle, error) {
	fd, err := unix.PidfdOpen(p.PID, unix.PIDFD_NONBLOCK)
	if errors.Is(err, unix.ESRCH) || errors.Is(err, unix.EINVAL) {
		return nil, fmt.Errorf("process %d: %w", p.PID, os.ErrProcessDone)
	}
	if err != nil {
		return nil, fmt.Errorf("process %d: pidfd: %w", p.PID, err)
	}
	h := &handle{process: p, pidfd: os.NewFile(uintptr(fd), "pidfd")}
	// Only now is it known whom the pid means.
	if !p.alive() {
		h.close()
		return nil, fmt.Errorf("process %d: %w", p.PID, os.ErrProcessDone)
	}
	return h, nil
}

func (h *handle) close() { h.pidfd.Close() }

// wait returns nil once the process has ended, or the context's error. One call at a time.
func (h *handle) wait(ctx context.Context) error {
	conn, err := h.pidfd.SyscallConn()
	if err != nil {
		return err
	}
	// A former wait may have left the deadline by which a context ends one.
	if err := h.pidfd.SetReadDeadline(time.Time{}); err != nil {
		return fmt.Errorf("process %d: wait: %w", h.PID, err)
	}
	stop := context.AfterFunc(ctx, func() { _ = h.pidfd.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	err = conn.Read(exited)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err == nil {
		reap(h.PID)
	}
	return err
}

// exited tells whether the process behind a pidfd has ended; a pidfd becomes readable then.
func exited(pidfd uintptr) bool {
	fds := []unix.PollFd{{Fd: int32(pidfd), Events: unix.POLLIN}}
	n, err := unix.Poll(fds, 0)
	return err == nil && n == 1
}

// reap collects the process if it is a child of ours, so that no zombie stays.
func reap(pid int) {
	_, _ = unix.Wait4(pid, nil, unix.WNOHANG, nil)
}

func (h *handle) signal(s unix.Signal) error {
	fd, err := h.pidfd.SyscallConn()
	if err != nil {
		return err
	}
	var sent error
	err = fd.Control(func(fd uintptr) { sent = unix.PidfdSendSignal(int(fd), s, nil, 0) })
	if err = errors.Join(err, sent); errors.Is(err, unix.ESRCH) {
		return nil
	}
	return err
}

// end asks the process to end, and kills it after the grace period.
func (h *handle) end(ctx context.Context, grace time.Duration) error {
	if err := h.signal(unix.SIGTERM); err != nil {
		return fmt.Errorf("end process %d: %w", h.PID, err)
	}
	bounded, cancel := context.WithTimeout(ctx, grace)
	defer cancel()
	if h.wait(bounded) == nil {
		return nil
	}
	if err := h.signal(unix.SIGKILL); err != nil {
		return fmt.Errorf("kill process %d: %w", h.PID, err)
	}
	return h.wait(ctx)
}
