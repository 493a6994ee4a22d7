// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package images

import (
	"strings"
	"testing"
	"time"

	"github.com/berth-run/berth/agent/cri"
)

func TestStall(t *testing.T) {
	type p = cri.PullProgress
	for name, tc := range map[string]struct {
		// seen every 10 s; the last for ever.
		seen []p
		// after so many seconds it has stalled; 0 for never.
		after int
		err   string
	}{
		"a registry that does not answer": {[]p{{}}, 60, "nothing came from the registry for 1m0s"},
		"others are fetched first":        {[]p{{Elsewhere: 1}, {Elsewhere: 2}, {Elsewhere: 3}}, 80, "nothing came"},
		"it may be unpacking":             {[]p{{MaybeUnpacking: true}}, 600, "nothing came from the registry for 10m0s"},
		"it stops half way": {[]p{{Total: 8 << 20, Done: 1, Downloading: true}, {Total: 8 << 20, Done: 3 << 20, Downloading: true}}, 70,
			"no progress for 1m0s at 3 MiB of 8 MiB"},
		"others go on, it does not": {[]p{{Total: 9, Done: 3, Downloading: true, Elsewhere: 1}, {Total: 9, Done: 3, Downloading: true, Elsewhere: 2},
			{Total: 9, Done: 3, Downloading: true, Elsewhere: 3}}, 60, "no progress"},
		"it is unpacked":      {[]p{{Total: 9, Done: 9}}, 0, ""},
		"its layers wait":     {[]p{{Total: 9, Done: 3}}, 0, ""},
		"it begins once more": {[]p{{Total: 9, Done: 3, Downloading: true}, {Total: 9, Downloading: true}}, 70, "no progress"},
	} {
		s := &stall{deadline: time.Minute}
		start, after := time.Now(), 0
		var err error
		for second := 0; second <= 1000 && err == nil; second += 10 {
			if err = s.observe(tc.seen[min(second/10, len(tc.seen)-1)], start.Add(time.Duration(second)*time.Second)); err != nil {
				after = second
			}
		}
		if after != tc.after || err != nil && !strings.Contains(err.Error(), tc.err) {
			t.Errorf("%s: stalled after %d s: %v", name, after, err)
		}
	}
}

func TestStageIsDescribed(t *testing.T) {
	for want, s := range map[string]stage{
		`Waiting to pull image "a:1": the node pulls as many images at once as it may`: {},
		`Pulling image "a:1"`:                     {begun: true},
		`Pulling image "a:1": 45 MiB of 120 MiB`:  {begun: true, progress: cri.PullProgress{Done: 45<<20 + 9, Total: 120 << 20}},
		`Pulling image "a:1": 3 KiB of 90 KiB`:    {begun: true, progress: cri.PullProgress{Done: 3 << 10, Total: 90 << 10}},
		`Pulling image "a:1": unpacking 120 MiB`:  {begun: true, progress: cri.PullProgress{Done: 120 << 20, Total: 120 << 20}},
		`Pulling image "a:1": 1 MiB of 20480 MiB`: {begun: true, progress: cri.PullProgress{Done: 1 << 20, Total: 20 << 30}},
	} {
		if got := s.describe("a:1"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
