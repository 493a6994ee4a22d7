// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package bolt

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/berth-run/berth/store"
)

// TestCompact shrinks a file that held much, and goes on with it.
func TestCompact(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	s := mustOpen(t, path, Options{})
	fill(t, s, 400)
	for i := range 395 {
		if _, _, err := s.Delete(context.Background(), podKey(i), store.Any); err != nil {
			t.Fatal(err)
		}
	}
	compactAll(t, s)
	id, head, entries := s.ID(), s.Head(), list(t, s, "").Entries
	s.Close()
	before := fileInfo(t, path)
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	writeFile(t, path+".compact", []byte("left by one that was interrupted"))

	if err := Compact(path); err != nil {
		t.Fatal(err)
	}
	after := fileInfo(t, path)
	if after.Size() > before.Size()/5 || after.Mode().Perm() != 0o640 {
		t.Errorf("%d bytes became %d, mode %v", before.Size(), after.Size(), after.Mode())
	}
	if _, err := os.Stat(path + ".compact"); !os.IsNotExist(err) {
		t.Errorf("a file is left behind: %v", err)
	}
	s = mustOpen(t, path, Options{})
	defer s.Close()
	got := list(t, s, "").Entries
	if s.ID() != id || len(got) != len(entries) || got[0].Revision != entries[0].Revision {
		t.Errorf("ID %s, %d entries; want %s, %d", s.ID(), len(got), id, len(entries))
	}
	w := mustWatch(t, s, "", head)
	revision := mustCreate(t, s, "new", "")
	if events := next(t, w); events[0].Revision != revision {
		t.Errorf("events %+v", events)
	}
}

func TestCompactRefuses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	wantRefusal(t, Compact(path), path, "no such file")
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("Compact created the file: %v", err)
	}
	s := mustOpen(t, path, Options{})
	wantRefusal(t, compactFile(path, time.Millisecond), path, "another process has it open")
	s.Close()
}

// TestCompactDiskFull leaves the original when there is no room for a copy.
func TestCompactDiskFull(t *testing.T) {
	path := filepath.Join(mountTmpfs(t, "size=1m"), "store.db")
	s := mustOpen(t, path, Options{})
	if _, err := s.Create(context.Background(), "a", make([]byte, 600_000)); err != nil {
		t.Fatal(err)
	}
	s.Close()
	wantRefusal(t, Compact(path), path, "make room")
	s = mustOpen(t, path, Options{})
	defer s.Close()
	if got := len(list(t, s, "").Entries); got != 1 {
		t.Errorf("%d entries", got)
	}
}

// TestLockOfReplacedFile: who waited for the lock of a file that Compact has
// replaced meanwhile must not take the old one for the store.
func TestLockOfReplacedFile(t *testing.T) {
	dir := t.TempDir()
	path, other := filepath.Join(dir, "store.db"), filepath.Join(dir, "other.db")
	writeFile(t, path, nil)
	writeFile(t, other, nil)
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for _, want := range []bool{true, false} {
		if current, err := lockCurrent(file, path, time.Now()); err != nil || current != want {
			t.Errorf("lockCurrent = %v, %v, want %v", current, err, want)
		}
		if err := os.Rename(other, path); want && err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if current, err := lockCurrent(file, path, time.Now()); err != nil || current {
		t.Errorf("lockCurrent = %v, %v for a removed file", current, err)
	}
}

func fileInfo(t testing.TB, path string) os.FileInfo {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info
}
