// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package diskusage measures what lies in a directory, as du does.
package diskusage

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// maxEntries bounds one measurement: what has more is reckoned by these.
const maxEntries = 1_000_000

// blockSize is the unit of a file's block count, whatever its file system's is.
const blockSize = 512

// Of returns the bytes that the files in a directory take on its file system, each
// once however many names it has. Whoever writes there meanwhile can make the sum
// inexact, but not lead out of the directory. One that is missing takes nothing.
func Of(ctx context.Context, dir string) (int64, error) {
	root, err := os.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("disk usage: %w", err)
	}
	defer root.Close()
	top, err := root.Lstat(".")
	if err != nil {
		return 0, fmt.Errorf("disk usage of %s: %w", dir, err)
	}
	sum := counter{ctx: ctx, dev: top.Sys().(*syscall.Stat_t).Dev, seen: map[uint64]struct{}{}}
	if err := fs.WalkDir(root.FS(), ".", sum.add); err != nil {
		return 0, fmt.Errorf("disk usage of %s: %w", dir, err)
	}
	return sum.bytes, nil
}

// counter adds up the entries of one file system.
type counter struct {
	ctx context.Context
	dev uint64
	// seen are the inodes that have more than one name.
	seen    map[uint64]struct{}
	entries int
	bytes   int64
}

func (c *counter) add(_ string, d fs.DirEntry, err error) error {
	if c.entries++; c.entries > maxEntries {
		return fs.SkipAll
	}
	if c.ctx.Err() != nil {
		return c.ctx.Err()
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil // it went meanwhile
	}
	if err != nil {
		return err
	}
	info, err := d.Info()
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return c.count(d, info.Sys().(*syscall.Stat_t))
}

func (c *counter) count(d fs.DirEntry, stat *syscall.Stat_t) error {
	switch _, again := c.seen[stat.Ino]; {
	case stat.Dev != c.dev && d.IsDir():
		return fs.SkipDir
	case stat.Dev != c.dev, again:
		return nil
	}
	if stat.Nlink > 1 && !d.IsDir() {
		c.seen[stat.Ino] = struct{}{}
	}
	c.bytes += stat.Blocks * blockSize
	return nil
}
