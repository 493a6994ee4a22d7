// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package tunnel

import (
	"bufio"
	"context"
	"errors"
	"io"

	"github.com/berth-run/berth/agent/crilog"
)

// copy writes the log to out: to its end, or until the container has ended when
// it is to be followed.
func (l *Logs) copy(ctx context.Context, out flusher, log *logFile, opts logOptions) error {
	if opts.tail != all {
		if err := crilog.SeekTail(log.file, opts.tail); err != nil {
			return err
		}
	}
	if !opts.follow {
		atEnd := func() bool { return false }
		return copyLog(out, log.file, opts, atEnd)
	}
	f := l.follow(log)
	defer f.stop()
	return copyLog(out, f, opts, func() bool { return f.wait(ctx) })
}

func copyLog(out flusher, from io.Reader, opts logOptions, atEnd func() bool) error {
	err := copyRecords(newRecordWriter(out, opts), bufio.NewReader(from), func() bool {
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
			if err := w.write(crilog.Parse(line[:len(line)-1])); err != nil {
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
			return w.write(crilog.Parse(line))
		}
	}
}
