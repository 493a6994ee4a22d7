// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// TestMessages: each error of several is told by itself, in the words of the server.
func TestMessages(t *testing.T) {
	a, b := errors.New("a"), errors.New("b\n  in two lines")
	refused := status.Error(codes.NotFound, `pods "p" not found`)
	away := status.Error(codes.Unavailable, `connection error: desc = "transport: Error while dialing: dial tcp: refused"`)
	for name, tc := range map[string]struct {
		err  error
		want []string
	}{
		"one":               {b, []string{"b\n  in two lines"}},
		"joined":            {errors.Join(a, errors.Join(b, nil, refused)), []string{"a", "b\n  in two lines", `pods "p" not found`}},
		"of the server":     {refused, []string{`pods "p" not found`}},
		"no server":         {away, []string{"cannot reach the server: dial tcp: refused; start it, or name another address with --server or $BERTH_SERVER"}},
		"exit code only":    {&exitError{code: 1}, nil},
		"with an exit code": {&exitError{exitTimeout, errors.Join(a, refused)}, []string{"a", `pods "p" not found`}},
		"two in a sentence": {fmt.Errorf("%w, then %w", a, a), []string{"a, then a"}},
	} {
		if diff := cmp.Diff(tc.want, Messages(readable(tc.err))); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if code := ExitCode(readable(tc.err)); code != ExitCode(tc.err) {
			t.Errorf("%s: exit code %d", name, code)
		}
	}
}
