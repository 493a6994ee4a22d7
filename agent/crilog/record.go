// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package crilog reads the log files that a runtime writes, in the format of CRI.
package crilog

import "bytes"

// Record is one line of a log file in the format of CRI:
//
//	2016-10-06T00:17:09.669794202Z stdout P first part of a long line
//
// The tag F ends a line of the container's output, P is followed by its next part.
type Record struct {
	Stamp   []byte
	Partial bool
	Text    []byte
}

// Parse reads a line without its newline. What is not in the format, such
// as the rest of a line that a crash cut, is text without a time.
func Parse(line []byte) Record {
	stamp, rest, _ := bytes.Cut(line, space)
	stream, rest, _ := bytes.Cut(rest, space)
	tag, text, ok := bytes.Cut(rest, space)
	if !ok || !isStream(stream) {
		return Record{Text: line}
	}
	// Tags are a list, of which the first is the one that is defined.
	tag, _, _ = bytes.Cut(tag, []byte(":"))
	return Record{Stamp: stamp, Partial: string(tag) == "P", Text: text}
}

var space = []byte(" ")

func isStream(name []byte) bool { return string(name) == "stdout" || string(name) == "stderr" }
