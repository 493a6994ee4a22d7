// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package atomicfile writes files whole or not at all, whatever dies in between.
package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Write puts content in place of the file, and returns once it is on the disk under
// its name. The directory must exist.
func Write(path string, content []byte, mode fs.FileMode) error {
	dir, name := filepath.Split(filepath.Clean(path))
	dir = filepath.Clean(dir)
	temp, err := os.CreateTemp(dir, Pattern(name))
	if err != nil {
		return err
	}
	defer os.Remove(temp.Name())
	_, err = temp.Write(content)
	if err = errors.Join(err, temp.Chmod(mode), temp.Sync(), temp.Close()); err != nil {
		return err
	}
	if err := os.Rename(temp.Name(), path); err != nil {
		return err
	}
	return syncDir(dir)
}

// Pattern matches the names (path.Match) of what a Write of a file of that name can
// leave beside it when it is broken off.
func Pattern(name string) string { return "." + name + "-*" }

func syncDir(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
