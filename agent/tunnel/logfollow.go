// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package tunnel

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-run/berth/agent/podtypes"
)

// Runtime tells how far containers are: the PLEG.
type Runtime interface {
	// Pod returns what is known of a pod without a call, nil if the runtime has
	// nothing of it, and as of when; the zero time if nothing is known yet. The
	// channel is closed when there may be more to know.
	Pod(uid types.UID) (pod *podtypes.RuntimePod, at time.Time, changed <-chan struct{})
}

// A follower looks at the file by itself only to make up for a notice that was lost.
// Where no notices are to be had, as when the machine has no watches left, it looks
// oftener.
const (
	fallbackInterval = 30 * time.Second
	pollInterval     = time.Second
)

// follower reads a log that is still being written, also when it is rotated.
type follower struct {
	*logFile
	logs *Logs
	// written has a token when the log may have grown; nil without a watch.
	written <-chan struct{}
	stop    func()
	// interval is how long to wait for a notice.
	interval time.Duration
	since    time.Time
	ended    bool
}

// follow returns a follower of the log; stop must be called.
func (l *Logs) follow(log *logFile) *follower {
	f := &follower{logFile: log, logs: l, interval: fallbackInterval, since: time.Now()}
	var err error
	f.written, f.stop, err = l.watcher.watch(filepath.Join(l.root, filepath.Dir(log.path)))
	if err != nil {
		l.logger.Warn("a log that is followed cannot be watched; it is looked at each second", "uid", log.ref.uid, "err", err)
		f.interval, f.stop = pollInterval, func() {}
	}
	return f
}

// Read goes on in the file that has come in place of one that was rotated away,
// once that is read to its end.
func (f *follower) Read(p []byte) (int, error) {
	for {
		n, err := f.file.Read(p)
		if n > 0 || !errors.Is(err, io.EOF) {
			return n, err
		}
		next, err := f.logs.successor(f.logFile)
		switch {
		case err != nil:
			return 0, err
		case next == nil:
			return 0, io.EOF
		case next == f.file:
			continue
		}
		// What was written between the last read and the rotation.
		if n, err := f.file.Read(p); n > 0 {
			next.Close()
			return n, err
		}
		f.file.Close()
		f.file = next
	}
}

// wait returns when the log may have grown, and tells whether more of it may come.
// After the container has ended it lets the rest be read once.
func (f *follower) wait(ctx context.Context) bool {
	if f.ended {
		return false
	}
	timer := time.NewTimer(f.interval)
	defer timer.Stop()
	for {
		pod, at, changed := f.logs.runtime.Pod(f.ref.uid)
		if f.ended = f.hasEnded(pod, at); f.ended {
			return true
		}
		select {
		case <-ctx.Done():
			return false
		case <-f.written:
			return true
		case <-timer.C:
			return true
		case <-changed:
		}
	}
}

// hasEnded tells whether the attempt that writes the log is over. One that is not
// known may have been made since.
func (f *follower) hasEnded(pod *podtypes.RuntimePod, at time.Time) bool {
	var containers []podtypes.Container
	if pod != nil {
		containers = pod.Containers
	}
	for _, c := range containers { // newest first
		switch {
		case c.Name != f.ref.container || c.Attempt < f.attempt:
		case c.Attempt > f.attempt:
			return true
		default:
			return c.State == podtypes.ContainerExited
		}
	}
	return at.After(f.since)
}
