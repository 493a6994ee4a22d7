// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package tunnel

import (
	"bytes"
	"errors"
	"io"
	"time"
)

// record is one line of a log file in the format of CRI:
//
//	2016-10-06T00:17:09.669794202Z stdout P first part of a long line
//
// The tag F ends a line of the container's output, P is followed by its next part.
type record struct {
	stamp   []byte
	partial bool
	text    []byte
}

// parseRecord reads a line without its newline. What is not in the format, such
// as the rest of a line that a crash cut, is text without a time.
func parseRecord(line []byte) record {
	stamp, rest, _ := bytes.Cut(line, space)
	stream, rest, _ := bytes.Cut(rest, space)
	tag, text, ok := bytes.Cut(rest, space)
	if !ok || !isStream(stream) {
		return record{text: line}
	}
	// Tags are a list, of which the first is the one that is defined.
	tag, _, _ = bytes.Cut(tag, []byte(":"))
	return record{stamp: stamp, partial: string(tag) == "P", text: text}
}

var space = []byte(" ")

func isStream(name []byte) bool { return string(name) == "stdout" || string(name) == "stderr" }

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
func (w *recordWriter) write(r record) error {
	if !w.inLine {
		w.skipping = w.tooOld(r)
	}
	begins := !w.inLine
	w.inLine = r.partial
	if w.skipping {
		return nil
	}
	var out []byte
	if begins && w.opts.timestamps && r.stamp != nil {
		out = append(append(out, r.stamp...), ' ')
	}
	out = append(out, r.text...)
	if !r.partial {
		out = append(out, '\n')
	}
	return w.bounded(out)
}

func (w *recordWriter) tooOld(r record) bool {
	if w.opts.since.IsZero() {
		return false
	}
	at, err := time.Parse(time.RFC3339Nano, string(r.stamp))
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
