// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// stopTimeout is how long a process may take to end after SIGTERM.
const stopTimeout = 20 * time.Second

// Process is a program of the cluster that can be started again after its end.
type Process struct {
	Name string
	Args []string
	// Log is the file to which output is added.
	Log string

	command *exec.Cmd
	ended   chan struct{}
}

// Start starts the program in a session of its own, so that a signal to the tests
// does not reach it.
func (p *Process) Start() error {
	log, err := os.OpenFile(p.Log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer log.Close()
	p.command = exec.Command(p.Args[0], p.Args[1:]...)
	p.command.Stdout, p.command.Stderr = log, log
	p.command.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := p.command.Start(); err != nil {
		return fmt.Errorf("start %s: %w", p.Name, err)
	}
	ended, command := make(chan struct{}), p.command
	p.ended = ended
	go func() {
		defer close(ended)
		_ = command.Wait()
	}()
	return nil
}

// PID is that of the program as it was started last.
func (p *Process) PID() int { return p.command.Process.Pid }

// Running tells whether the program was started and has not ended.
func (p *Process) Running() bool {
	if p.ended == nil {
		return false
	}
	select {
	case <-p.ended:
		return false
	default:
		return true
	}
}

// Kill ends the program with SIGKILL.
func (p *Process) Kill() error {
	if !p.Running() {
		return fmt.Errorf("kill %s: it does not run", p.Name)
	}
	if err := p.command.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("kill %s: %w", p.Name, err)
	}
	<-p.ended
	return nil
}

// Stop ends the program with SIGTERM. It is an error if it does not obey, or had
// failed before.
func (p *Process) Stop() error {
	if p.ended == nil {
		return nil
	}
	if p.Running() {
		if err := p.command.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
			return fmt.Errorf("stop %s: %w", p.Name, err)
		}
	}
	select {
	case <-p.ended:
	case <-time.After(stopTimeout):
		return errors.Join(fmt.Errorf("stop %s: still there %s after SIGTERM", p.Name, stopTimeout), p.Kill())
	}
	state := p.command.ProcessState
	p.ended = nil
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		switch status.Signal() {
		case syscall.SIGKILL, syscall.SIGTERM:
			return nil // the test killed it, or it had not yet come to heed signals
		}
	}
	if !state.Success() {
		return fmt.Errorf("%s: %s; see %s", p.Name, state, p.Log)
	}
	return nil
}

// Tail returns the end of the program's log.
func (p *Process) Tail(bytes int) string {
	content, err := os.ReadFile(p.Log)
	if err != nil {
		return err.Error()
	}
	return string(content[max(0, len(content)-bytes):])
}
