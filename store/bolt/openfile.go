// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package bolt

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	bbolt "go.etcd.io/bbolt"
)

const (
	fileMode = 0o600
	// initialMmap is address space reserved for the file, so that its growth
	// seldom has to wait for readers to let go of a smaller mapping.
	initialMmap = 64 << 20
	// growStep is what the file grows by at a time; each step costs a sync.
	growStep = 4 << 20
	// lockPoll is the pause between two attempts to lock the file.
	lockPoll = 20 * time.Millisecond
)

// openFile opens and locks the bbolt file at path, or creates it. What is
// damaged is refused before bbolt sees it.
//
// The list of free pages is kept in memory only: written with every commit it
// would cost a page or many. bbolt finds it again by scanning on open.
func openFile(path string, lockTimeout time.Duration) (*bbolt.DB, error) {
	opener := fileOpener{lockTimeout: lockTimeout}
	var db *bbolt.DB
	err := guard(func() (err error) {
		db, err = bbolt.Open(path, fileMode, &bbolt.Options{
			OpenFile:        opener.open,
			FreelistType:    bbolt.FreelistMapType,
			NoFreelistSync:  true,
			InitialMmapSize: initialMmap,
		})
		return err
	})
	if err != nil {
		if opener.file != nil {
			opener.file.Close() // bbolt does not, when it panics
		}
		return nil, fileError(path, err)
	}
	db.AllocSize = growStep
	if err := syncDir(filepath.Dir(path)); err != nil {
		db.Close()
		return nil, fileError(path, err)
	}
	return db, nil
}

// fileOpener opens, locks and verifies a file for bbolt, which then locks the
// same open file again at once.
type fileOpener struct {
	lockTimeout time.Duration
	file        *os.File
}

func (o *fileOpener) open(path string, flag int, mode fs.FileMode) (*os.File, error) {
	deadline := time.Now().Add(o.lockTimeout)
	for {
		file, err := os.OpenFile(path, flag, mode)
		if err != nil {
			return nil, err
		}
		current, err := lockCurrent(file, path, deadline)
		if err == nil && current {
			err = verify(file)
		}
		if err == nil && current {
			o.file = file
			return file, nil
		}
		file.Close()
		if err != nil {
			return nil, err
		}
	}
}

var errLocked = errors.New("another process has it open: stop the other berth, or give this one a path of its own")

// lockCurrent locks file and reports whether it is still the one at path: an
// offline compaction may have put another there while we waited.
func lockCurrent(file *os.File, path string, deadline time.Time) (bool, error) {
	for {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			break
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			return false, fmt.Errorf("lock: %w", err)
		}
		if time.Now().After(deadline) {
			return false, errLocked
		}
		<-time.After(lockPoll)
	}
	ours, err := file.Stat()
	if err != nil {
		return false, err
	}
	theirs, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil && os.SameFile(ours, theirs), err
}

// fileError says what is wrong with the store's file and what can be done.
func fileError(path string, err error) error {
	switch {
	case errors.Is(err, errDamaged):
		return fmt.Errorf("store file %s: %w: restore a copy of it, or move it away to begin with an empty store", path, err)
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return fmt.Errorf("store file %s: %w: berth must be able to write it and its directory", path, err)
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("store file %s: %w: create its directory first", path, err)
	case errors.Is(err, syscall.EISDIR):
		return fmt.Errorf("store file %s: %w: name a file, not a directory", path, err)
	case errors.Is(err, syscall.ENOSPC):
		return fmt.Errorf("store file %s: %w: make room on its file system", path, err)
	}
	return fmt.Errorf("store file %s: %w", path, err)
}

// syncDir makes a file's new name last.
func syncDir(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	defer dir.Close()
	return dir.Sync()
}
