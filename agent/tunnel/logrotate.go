// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package tunnel

import (
	"errors"
	"io"
	"io/fs"
	"os"
)

// successor returns the file to go on with at the end of the log, or nil: the one that
// has the log's name now, if it is another, or the log itself, from its beginning, if
// it was cut short in place.
func (l *Logs) successor(log *logFile) (*os.File, error) {
	root, err := os.OpenRoot(l.root)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	named, err := root.Stat(log.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // renamed, and the next is not there yet; or removed
	}
	if err != nil {
		return nil, err
	}
	ours, err := log.file.Stat()
	if err != nil {
		return nil, err
	}
	if os.SameFile(named, ours) {
		return rewindIfCut(log.file, ours.Size())
	}
	next, err := root.Open(log.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return next, err
}

func rewindIfCut(file *os.File, size int64) (*os.File, error) {
	at, err := file.Seek(0, io.SeekCurrent)
	if err != nil || at <= size {
		return nil, err
	}
	_, err = file.Seek(0, io.SeekStart)
	return file, err
}
