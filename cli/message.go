// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"strings"

	"google.golang.org/grpc/status"
)

// Messages returns what an error says, each error that is joined in it by itself. One
// that is an exit code only says nothing.
func Messages(err error) []string {
	var out []string
	for _, e := range joined(err) {
		if text := e.Error(); text != "" {
			out = append(out, text)
		}
	}
	return out
}

// joined takes errors apart that errors.Join has put together.
func joined(err error) []error {
	var all []error
	switch e := err.(type) {
	case *exitError:
		if e.err == nil {
			return nil
		}
		return joined(e.err)
	case interface{ Unwrap() []error }:
		all = e.Unwrap()
	}
	if len(all) == 0 || errors.Join(all...).Error() != err.Error() { // a sentence with several errors in it
		return []error{err}
	}
	var out []error
	for _, e := range all {
		out = append(out, joined(e)...)
	}
	return out
}

// readable returns what a verb fails with in the text for users.
func readable(err error) error {
	if err == nil {
		return nil
	}
	var texts []error
	for _, e := range joined(err) {
		texts = append(texts, errors.New(message(e)))
	}
	if errors.As(err, new(*exitError)) {
		return &exitError{ExitCode(err), errors.Join(texts...)}
	}
	return errors.Join(texts...)
}

// message returns the text of an error for users: what the server said, without
// the frame that gRPC puts around it.
func message(err error) string {
	s, ok := status.FromError(err)
	if !ok {
		return err.Error()
	}
	if _, dial, ok := strings.Cut(s.Message(), "while dialing: "); ok {
		return "cannot reach the server: " + strings.TrimSuffix(dial, `"`) +
			"; start it, or name another address with --server or $" + serverVariable
	}
	return s.Message()
}
