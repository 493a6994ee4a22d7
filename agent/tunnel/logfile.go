// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package tunnel

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/types"
)

// Logs reads the log files that the runtime writes:
// <root>/<namespace>_<name>_<uid>/<container>/<attempt>.log.
type Logs struct {
	root    string
	runtime Runtime
	watcher dirWatcher
	logger  *slog.Logger
}

// NewLogs returns Logs over the files below root.
func NewLogs(root string, runtime Runtime, logger *slog.Logger) *Logs {
	return &Logs{root: root, runtime: runtime, watcher: &inotify{}, logger: logger}
}

// containerRef names a container of a pod.
type containerRef struct {
	namespace, name string
	uid             types.UID
	container       string
}

// dir is where the container's log files are, below the root.
func (c containerRef) dir() (string, error) {
	pod := fmt.Sprintf("%s_%s_%s", c.namespace, c.name, c.uid)
	for _, part := range []string{pod, c.container} {
		if part == ".." || part == "." || strings.ContainsRune(part, filepath.Separator) {
			return "", fmt.Errorf("%q is no name of a pod or container", part)
		}
	}
	return filepath.Join(pod, c.container), nil
}

// logFile is the log of one attempt at a container.
type logFile struct {
	ref     containerRef
	attempt uint32
	// path is below the root of the logs.
	path string
	file *os.File
}

func (f *logFile) close() { f.file.Close() }

// open opens the log of an attempt, or of the newest. An error that wraps
// fs.ErrNotExist means that there is none.
func (l *Logs) open(ref containerRef, attempt int64) (*logFile, error) {
	dir, err := ref.dir()
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(l.root)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	entries, err := fs.ReadDir(root.FS(), dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	chosen, ok := chooseAttempt(attempts(entries), attempt)
	if !ok {
		return nil, fmt.Errorf("log of container %q of pod %s: %w", ref.container, ref.uid, fs.ErrNotExist)
	}
	path := filepath.Join(dir, fmt.Sprintf("%d.log", chosen))
	file, err := root.Open(path)
	if err != nil {
		return nil, err
	}
	return &logFile{ref: ref, attempt: chosen, path: path, file: file}, nil
}

// attempts returns the attempts whose logs are in the directory, oldest first.
func attempts(entries []fs.DirEntry) []uint32 {
	var found []uint32
	for _, e := range entries {
		text, ok := strings.CutSuffix(e.Name(), ".log")
		if n, err := strconv.ParseUint(text, 10, 32); ok && err == nil {
			found = append(found, uint32(n))
		}
	}
	slices.Sort(found)
	return found
}

func chooseAttempt(attempts []uint32, wanted int64) (attempt uint32, ok bool) {
	if wanted != newest {
		attempt = uint32(wanted)
		return attempt, int64(attempt) == wanted && slices.Contains(attempts, attempt)
	}
	if len(attempts) == 0 {
		return 0, false
	}
	return attempts[len(attempts)-1], true
}
