// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package statedir

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/berth-run/berth/internal/atomicfile"
)

// MarkFile is the file in a directory that says who made it.
const MarkFile = "berth.json"

// Mark says who made a directory.
type Mark struct {
	// MadeBy is the command, such as "berth agent".
	MadeBy string `json:"madeBy"`
	// Path is the directory's own, from which the names follow that its node takes of
	// the machine: a copy of the directory is not that node's.
	Path string `json:"path"`
	// RuntimeEndpoints are the CRI sockets that an agent has used beside its own.
	RuntimeEndpoints []string `json:"runtimeEndpoints,omitempty"`
}

// ErrNotMarked is the error of a directory that berth did not make.
var ErrNotMarked = errors.New("has no " + MarkFile)

// Mark marks the directory, in one step.
func (d *Dir) Mark(m Mark) error {
	m.Path = d.path
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	if err := atomicfile.Write(filepath.Join(d.path, MarkFile), append(text, '\n'), 0o600); err != nil {
		return fmt.Errorf("directory %s: not writable: %w", d.path, err)
	}
	return nil
}

// ReadMark returns the directory's mark, and refuses one of another command or of
// another directory.
func (d *Dir) ReadMark(madeBy string) (Mark, error) {
	var m Mark
	text, err := os.ReadFile(filepath.Join(d.path, MarkFile))
	if errors.Is(err, fs.ErrNotExist) {
		return m, fmt.Errorf("directory %s: %w, by which one that %s made is known", d.path, ErrNotMarked, madeBy)
	}
	if err != nil {
		return m, err
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return m, fmt.Errorf("%s: %w", filepath.Join(d.path, MarkFile), err)
	}
	if m.MadeBy != madeBy {
		return m, fmt.Errorf("directory %s: madeBy in its %s is %q, not %q", d.path, MarkFile, m.MadeBy, madeBy)
	}
	if !sameFile(m.Path, d.path) {
		return m, fmt.Errorf("directory %s: path in its %s is %q: it was copied or moved; move it back", d.path, MarkFile, m.Path)
	}
	return m, nil
}

func sameFile(a, b string) bool {
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	other, err := os.Stat(b)
	return err == nil && os.SameFile(one, other)
}
