// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package statedir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/berth-run/berth/internal/atomicfile"
)

// Remove removes the entries whose names match one of the patterns of path.Match, with
// all in them, then the mark and the directory. If it has other entries, they stay with
// directory and mark, and their names are returned. It can be repeated.
func (d *Dir) Remove(patterns ...string) (foreign []string, err error) {
	entries, err := os.ReadDir(d.path)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		switch {
		case matches(e.Name(), append(patterns, atomicfile.Pattern(MarkFile))):
			if err := os.RemoveAll(filepath.Join(d.path, e.Name())); err != nil {
				return nil, fmt.Errorf("remove directory %s: %w", d.path, err)
			}
		case e.Name() != MarkFile:
			foreign = append(foreign, e.Name())
		}
	}
	if len(foreign) > 0 {
		return foreign, nil
	}
	return nil, d.removeEmpty()
}

func matches(name string, patterns []string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		ok, _ := path.Match(pattern, name)
		return ok
	})
}

// removeEmpty removes the mark last: until then the removal can be repeated.
func (d *Dir) removeEmpty() error {
	if err := os.Remove(filepath.Join(d.path, MarkFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	err := os.Remove(d.path)
	// A mount point stays, empty, as it was before.
	if errors.Is(err, unix.EBUSY) {
		return nil
	}
	return err
}
