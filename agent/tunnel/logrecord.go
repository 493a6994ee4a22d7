// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package tunnel

import (
	"errors"
	"io"
	"time"

	"github.com/berth-run/berth/agent/crilog"
)

// errLimit ends a copy that has written all that it may.
var errLimit = errors.New("byte limit reached")

// recordWriter writes the text of records as the options ask for it.
type recordWriter struct {
	w    io.Writer
	opts logOptions
	left int64
	// inLine: the last record was a part, which the next one goes on with.
	inLine bool
	// skipping: that line is too old.
	skipping bool
}

func newRecordWriter(w io.Writer, opts logOptions) *recordWriter {
	return &recordWriter{w: w, opts: opts, left: opts.limit}
}

// write returns errLimit when nothing more may be written.
func (w *recordWriter) write(r crilog.Record) error {
	if !w.inLine {
		w.skipping = w.tooOld(r)
	}
	begins := !w.inLine
	w.inLine = r.Partial
	if w.skipping {
		return nil
	}
	var out []byte
	if begins && w.opts.timestamps && r.Stamp != nil {
		out = append(append(out, r.Stamp...), ' ')
	}
	out = append(out, r.Text...)
	if !r.Partial {
		out = append(out, '\n')
	}
	return w.bounded(out)
}

func (w *recordWriter) tooOld(r crilog.Record) bool {
	if w.opts.since.IsZero() {
		return false
	}
	at, err := time.Parse(time.RFC3339Nano, string(r.Stamp))
	return err == nil && at.Before(w.opts.since)
}

func (w *recordWriter) bounded(out []byte) error {
	cut := int64(len(out)) >= w.left
	if cut {
		out = out[:w.left]
	}
	w.left -= int64(len(out))
	if _, err := w.w.Write(out); err != nil {
		return err
	}
	if cut {
		return errLimit
	}
	return nil
}
