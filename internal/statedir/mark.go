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
)

// MarkFile is the file in a directory that says who made it.
const MarkFile = "berth.json"

// markTemp is what the mark is written to before it has its name.
const markTemp = "." + MarkFile + "-*"

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
	f, err := os.CreateTemp(d.path, markTemp)
	if err != nil {
		return fmt.Errorf("directory %s: not writable: %w", d.path, err)
	}
	defer os.Remove(f.Name())
	_, err = f.Write(append(text, '\n'))
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("mark directory %s: %w", d.path, err)
	}
	return os.Rename(f.Name(), filepath.Join(d.path, MarkFile))
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
