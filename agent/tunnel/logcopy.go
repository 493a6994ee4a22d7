// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package tunnel

import (
	"bufio"
	"context"
	"errors"
	"io"
	"time"

	"github.com/berth-run/berth/agent/podtypes"
)

// A follower looks for new lines this often, and asks the runtime less often
// whether the container has ended. Polling needs no inotify instance for each
// follower, of which a machine has few.
const (
	followInterval = 100 * time.Millisecond
	checkInterval  = time.Second
)

// copy writes the log to out: to its end, or until the container has ended when
// it is to be followed.
func (l *Logs) copy(ctx context.Context, out flusher, log *logFile, opts logOptions) error {
	if opts.tail != all {
		if err := seekTail(log.file, opts.tail); err != nil {
			return err
		}
	}
	atEnd := func() bool { return false }
	if opts.follow {
		atEnd = l.follower(ctx, log)
	}
	err := copyRecords(newRecordWriter(out, opts), bufio.NewReader(log.file), func() bool {
		out.flush()
		return atEnd()
	})
	if errors.Is(err, errLimit) {
		return nil
	}
	return err
}

// copyRecords writes the records of r. At its end it asks atEnd, which may wait,
// whether to read on. A line without its newline is still being written: it is
// kept until the rest is there, and written as it is at the very end.
func copyRecords(w *recordWriter, r *bufio.Reader, atEnd func() bool) error {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case err == nil:
			if err := w.write(parseRecord(line[:len(line)-1])); err != nil {
				return err
			}
			line = line[:0]
		case errors.Is(err, bufio.ErrBufferFull):
		case !errors.Is(err, io.EOF):
			return err
		case !atEnd():
			if len(line) == 0 {
				return nil
			}
			return w.write(parseRecord(line))
		}
	}
}

// follower returns a function that waits a little and tells whether more of the
// log may come. After the container has ended it lets the rest be read once.
func (l *Logs) follower(ctx context.Context, log *logFile) func() bool {
	var checked time.Time
	ended := false
	return func() bool {
		if ended || ctx.Err() != nil {
			return false
		}
		if time.Since(checked) >= checkInterval {
			checked = time.Now()
			if ended = l.ended(ctx, log); ended {
				return true
			}
		}
		select {
		case <-ctx.Done():
		case <-time.After(followInterval):
		}
		return true
	}
}

// ended tells whether the attempt that writes the log is over. While the runtime
// cannot say, it is not.
func (l *Logs) ended(ctx context.Context, log *logFile) bool {
	status, err := l.runtime.PodStatus(ctx, log.ref.uid)
	if err != nil {
		return errors.Is(err, podtypes.ErrNotFound)
	}
	latest := status.Latest(log.ref.container)
	return latest == nil || latest.Attempt > log.attempt || latest.State == podtypes.ContainerExited
}
