// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
)

// Exit codes. Those of a wait tell scripts why what they wait for does not come.
const (
	exitOther = iota + 1
	exitUsage
	exitCompleted
	exitFailed
	exitImage
	exitTimeout
	exitGone
)

// exitError is an error with an exit code of its own; without err it is only that.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// ExitCode is what a program ends with that ends with err.
func ExitCode(err error) int {
	switch e := (*exitError)(nil); {
	case err == nil:
		return 0
	case errors.As(err, &e):
		return e.code
	}
	return exitOther
}

// UsageError marks an error as one of how a command was called.
func UsageError(err error) error {
	if err == nil {
		return nil
	}
	return &exitError{exitUsage, err}
}
