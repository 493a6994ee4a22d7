// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package bolt

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	bbolt "go.etcd.io/bbolt"
)

const (
	// compactLockTimeout is how long Compact waits for a server to end.
	compactLockTimeout = time.Second
	// compactTxSize bounds the bytes that one transaction of a copy holds.
	compactTxSize = 4 << 20
)

// Compact shrinks the store file at path to what it needs. No server may have
// it open. It copies into a file beside it, so there must be room, and puts the
// copy in the place of the original in one step: whenever it is interrupted,
// one of both is there whole. ID, history and revisions stay as they are.
func Compact(path string) error {
	return compactFile(path, compactLockTimeout)
}

func compactFile(path string, lockTimeout time.Duration) error {
	info, err := os.Stat(path) // opening it would create it
	if err != nil {
		return fmt.Errorf("store file: %w", err)
	}
	source, err := openFile(path, lockTimeout)
	if err != nil {
		return err
	}
	// The lock lasts until the copy is in place: who opens the file meanwhile
	// waits, and then finds that it is another one.
	defer source.Close()
	temporary := path + ".compact"
	err = guard(func() error { return copyCompact(source, temporary, info) })
	if err == nil {
		err = os.Rename(temporary, path)
	}
	if err != nil {
		os.Remove(temporary)
		return fmt.Errorf("compact: %w", fileError(path, err))
	}
	return syncDir(filepath.Dir(path))
}

// copyCompact copies the content of source to a file at path, with the mode and
// the owner of the original.
func copyCompact(source *bbolt.DB, path string, original fs.FileInfo) error {
	if err := source.View(checkSchema); err != nil {
		return err
	}
	if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
		return err
	}
	copied, err := bbolt.Open(path, original.Mode().Perm(), &bbolt.Options{
		FreelistType:   bbolt.FreelistMapType,
		NoFreelistSync: true,
		NoSync:         true, // finishCopy syncs once
	})
	if err != nil {
		return err
	}
	err = bbolt.Compact(copied, source, compactTxSize)
	if closeErr := copied.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return err
	}
	return finishCopy(path, original)
}

// checkSchema refuses a file that is not a store.
func checkSchema(tx *bbolt.Tx) error {
	_, err := readSchema(tx)
	return err
}

// finishCopy cuts off what the copy's growth reserved and makes it durable.
func finishCopy(path string, original fs.FileInfo) error {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	meta, err := readMeta(file, info.Size())
	if err != nil {
		return err
	}
	if err := file.Truncate(int64(meta.pages * meta.pageSize)); err != nil {
		return err
	}
	if owner, ok := original.Sys().(*syscall.Stat_t); ok {
		if err := file.Chown(int(owner.Uid), int(owner.Gid)); err != nil {
			return err
		}
	}
	return file.Sync()
}
