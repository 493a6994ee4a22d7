// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package statedir keeps the directories that berth makes for itself. Such a
// directory is marked, so that none that berth did not make is ever taken for one of
// its own and removed, and locked by whoever uses or removes it.
package statedir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// ErrInUse is the error of a directory that another process uses.
var ErrInUse = errors.New("is in use")

// Dir is a directory that this process has locked.
type Dir struct {
	path string
	file *os.File
}

// Make makes the directory if it is missing, and locks it.
func Make(path string) (*Dir, error) {
	for {
		if err := os.MkdirAll(path, 0o750); err != nil {
			return nil, fmt.Errorf("directory %s: %w", path, err)
		}
		// Whoever held it before may have removed it.
		d, err := Open(path)
		if !errors.Is(err, fs.ErrNotExist) {
			return d, err
		}
	}
}

// Open locks a directory that is there; fs.ErrNotExist if it is not.
func Open(path string) (*Dir, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return nil, fmt.Errorf("directory %s: %w", path, err)
	}
	d := &Dir{path, file}
	if err := d.lock(); err != nil {
		file.Close()
		return nil, fmt.Errorf("directory %s: %w", path, err)
	}
	return d, nil
}

// Path is the path by which the directory was named.
func (d *Dir) Path() string { return d.path }

// Close unlocks the directory.
func (d *Dir) Close() error { return d.file.Close() }

// lock holds the directory itself, so that nothing lies in it for the lock's sake, and
// makes sure that it was not removed in between.
func (d *Dir) lock() error {
	err := unix.Flock(int(d.file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return ErrInUse
	}
	if err != nil {
		return fmt.Errorf("lock: %w", err)
	}
	held, err := d.file.Stat()
	if err != nil {
		return err
	}
	now, err := os.Stat(d.path)
	if err == nil && !os.SameFile(held, now) {
		err = fs.ErrNotExist
	}
	return err
}
