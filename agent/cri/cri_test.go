// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package cri

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

func TestWithDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		short, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		for name, tc := range map[string]struct {
			ctx     context.Context
			request any
			want    time.Duration // 0: none
		}{
			"a call":              {t.Context(), &runtimeapi.VersionRequest{}, 2 * time.Minute},
			"a stop":              {t.Context(), &runtimeapi.StopContainerRequest{Timeout: 3600}, time.Hour + 2*time.Minute},
			"a pull":              {t.Context(), &runtimeapi.PullImageRequest{}, 0},
			"a command":           {t.Context(), &runtimeapi.ExecSyncRequest{Timeout: 10}, 10*time.Second + 2*time.Minute},
			"an endless command":  {t.Context(), &runtimeapi.ExecSyncRequest{}, 0},
			"one with a deadline": {short, &runtimeapi.StopContainerRequest{Timeout: 3600}, time.Second},
		} {
			ctx, cancel := WithDeadline(tc.ctx, tc.request)
			deadline, ok := ctx.Deadline()
			if ok != (tc.want > 0) || ok && time.Until(deadline) != tc.want {
				t.Errorf("%s: %s", name, time.Until(deadline))
			}
			cancel()
		}
	})
}

// A runtime that is not there is told by the first call, at once.
func TestDialAbsentRuntime(t *testing.T) {
	c, err := Dial(filepath.Join(t.TempDir(), "absent.sock"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	start := time.Now()
	_, err = c.Runtime.Version(t.Context(), &runtimeapi.VersionRequest{})
	if status.Code(err) != codes.Unavailable || time.Since(start) > 5*time.Second {
		t.Errorf("after %s: %v", time.Since(start), err)
	}
}

func TestIsNotFound(t *testing.T) {
	if !IsNotFound(status.Error(codes.NotFound, "")) || IsNotFound(nil) || IsNotFound(errors.New("not found")) {
		t.Error("wrong")
	}
}
