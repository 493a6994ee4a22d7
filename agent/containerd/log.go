// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package containerd

import (
	"bytes"
	"io"
	"os"
)

// openLog keeps the log of the run before, so that a crash can be read.
func (r *Runtime) openLog() (*os.File, error) {
	_ = os.Rename(r.logFile(), r.logFile()+".1")
	return os.OpenFile(r.logFile(), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o640)
}

// lastLine is the end of a log, for an error message. It is empty if there is none.
func lastLine(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	const enough = 2048
	if size, err := f.Seek(0, io.SeekEnd); err == nil {
		_, _ = f.Seek(max(0, size-enough), io.SeekStart)
	}
	end, _ := io.ReadAll(f)
	end = bytes.TrimSpace(end)
	return string(end[bytes.LastIndexByte(end, '\n')+1:])
}
