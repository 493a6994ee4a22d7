// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package syncloop

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/berth-run/berth/agent/podtypes"
)

func TestRuntimeWait(t *testing.T) {
	start := time.Now()
	w := newRuntimeWait(start)
	expect := func(after time.Duration, wait time.Duration, level slog.Level) {
		t.Helper()
		if gotWait, gotLevel := w.next(start.Add(after)); gotWait != wait || gotLevel != level {
			t.Errorf("after %s: wait %s at level %s, want %s at %s", after, gotWait, gotLevel, wait, level)
		}
	}
	const ms = time.Millisecond
	expect(0, 100*ms, slog.LevelDebug)
	expect(100*ms, 200*ms, slog.LevelDebug)
	expect(9*time.Second, 400*ms, slog.LevelDebug)
	expect(startGrace, 800*ms, slog.LevelWarn)
	for range 10 {
		w.next(start)
	}
	expect(startGrace, longestSkip, slog.LevelWarn)
	w = newRuntimeWait(start)
	w.next(start)
	w.over()
	expect(time.Second, 100*ms, slog.LevelWarn)
}

// A start at which the runtime is listed within a moment is no matter for a warning.
func TestAStartWarnsOfNothing(t *testing.T) {
	var log bytes.Buffer
	setUp := func(n *node) {
		n.broken = errors.New("no listing yet")
		n.Logger = slog.New(slog.NewTextHandler(&log, nil))
	}
	bubble(t, setUp, func(t *testing.T, n *node) {
		time.Sleep(time.Second)
		n.set(func() { n.broken = nil })
		n.say(podtypes.ADD)
		synctest.Wait()
		if strings.Contains(log.String(), "runtime has errors") {
			t.Errorf("the log says %s", log.String())
		}
		n.set(func() { n.broken = errors.New("runtime is away") })
		time.Sleep(housekeepingPeriod + time.Second)
		synctest.Wait()
		if !strings.Contains(log.String(), "level=WARN") {
			t.Errorf("the log says %s", log.String())
		}
	})
}
