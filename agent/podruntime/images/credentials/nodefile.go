// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package credentials

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/fsnotify/fsnotify"
)

// NodeFile is the file with the node's own logins, in the form of a Docker
// config.json. It may be absent, and come, change and go at any time. A nil NodeFile
// has no logins.
type NodeFile struct{ path string }

// NewNodeFile returns the file at that path, which need not exist.
func NewNodeFile(path string) *NodeFile { return &NodeFile{path: path} }

// entries reads the file anew: it is small, and pulls are rare.
func (f *NodeFile) entries() ([]entry, error) {
	if f == nil {
		return nil, nil
	}
	data, err := f.read()
	if err != nil || data == nil {
		return nil, err
	}
	all, err := parseConfig(data)
	if err != nil {
		return all, fmt.Errorf("credentials of the node, %s: %w", f.path, err)
	}
	return all, nil
}

func (f *NodeFile) read() ([]byte, error) {
	data, err := os.ReadFile(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("credentials of the node: %w", err)
	}
	return data, nil
}

// Watch calls changed after each change of the file's content, until ctx ends. It
// watches the directory: files are replaced as a whole. Where that cannot be watched,
// the log says so, and what waits for new logins waits for its time.
func (f *NodeFile) Watch(ctx context.Context, log *slog.Logger, changed func()) error {
	w, err := fsnotify.NewWatcher()
	if err == nil {
		defer w.Close()
		err = w.Add(filepath.Dir(f.path))
	}
	if err != nil {
		log.Warn("changes of the node's credentials are not noticed at once", "file", f.path, "err", err)
		<-ctx.Done()
		return nil
	}
	last, _ := f.read()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-w.Errors: // such as an overflow: what was missed is seen by reading
		case <-w.Events:
		}
		if now, err := f.read(); err == nil && !bytes.Equal(now, last) {
			last = now
			log.Info("the node's credentials have changed", "file", f.path)
			changed()
		}
	}
}
