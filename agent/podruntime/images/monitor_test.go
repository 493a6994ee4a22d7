// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package images

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-run/berth/agent/cri"
	"github.com/berth-run/berth/agent/cri/fake"
	"github.com/berth-run/berth/agent/cri/fault"
	"github.com/berth-run/berth/agent/podruntime/images/credentials"
)

// telling is a Manager whose runtime tells of pulls by that function.
func telling(f *fake.Runtime, told *[]string, progress progressFunc) *Manager {
	return New(Config{
		Client: f.Client().Images, Recorder: silent{}, ProgressDeadline: 20 * time.Second,
		Progress: func(credentials.Image) func(context.Context) (cri.PullProgress, error) { return progress },
		Waiting:  func(_ *corev1.Pod, _, message string) { *told = append(*told, message) },
	})
}

func TestAPullThatStandsStillIsCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := fake.New()
		f.Faults.Add(fault.Rule{Method: "PullImage", Hang: true})
		var told []string
		m := telling(f, &told, func(context.Context) (cri.PullProgress, error) {
			return cri.PullProgress{Done: 2 << 20, Total: 9 << 20, Downloading: true}, nil
		})
		start := time.Now()
		e := failedWith(t, m, request("uid-1", "a:1", corev1.PullAlways))
		if e.Reason != ErrImagePull || !strings.Contains(e.Message, "no progress for 20s at 2 MiB of 9 MiB, so the pull was cancelled") {
			t.Error(e)
		}
		if took := time.Since(start); took != 21*time.Second {
			t.Errorf("after %s", took)
		}
		if len(told) != 1 || told[0] != `Pulling image "a:1": 2 MiB of 9 MiB` {
			t.Errorf("told %q", told)
		}
	})
}

func TestAPullOfWhichNothingIsKnownGoesOn(t *testing.T) {
	for _, code := range []codes.Code{codes.Unimplemented, codes.Unavailable} {
		synctest.Test(t, func(t *testing.T) {
			f := fake.New()
			f.Faults.Add(fault.Rule{Method: "PullImage", Delay: 5 * time.Minute})
			var told []string
			m := telling(f, &told, func(context.Context) (cri.PullProgress, error) {
				return cri.PullProgress{}, status.Error(code, "no")
			})
			if _, err := m.Ensure(t.Context(), request("uid-1", "a:1", corev1.PullAlways)); err != nil {
				t.Errorf("%s: %v", code, err)
			}
		})
	}
}

func TestACancelledPullIsNoStalledOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := fake.New()
		f.Faults.Add(fault.Rule{Method: "PullImage", Hang: true})
		var told []string
		m := telling(f, &told, func(context.Context) (cri.PullProgress, error) { return cri.PullProgress{}, nil })
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		_, err := m.Ensure(ctx, request("uid-1", "a:1", corev1.PullAlways))
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
	})
}
