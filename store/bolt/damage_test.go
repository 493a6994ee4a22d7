// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package bolt

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	bbolt "go.etcd.io/bbolt"

	"github.com/berth-run/berth/store"
)

// TestOpenRefuses checks that an unusable file gives an error that names it and
// the way out, and is left as it was.
func TestOpenRefuses(t *testing.T) {
	for _, test := range []struct {
		name string
		make func(t *testing.T, path string)
		want string
	}{
		{"text file", func(t *testing.T, path string) {
			writeFile(t, path, []byte(strings.Repeat("not a store\n", 1000)))
		}, "restore a copy"},
		{"short file", func(t *testing.T, path string) { writeFile(t, path, []byte("x")) }, "restore a copy"},
		{"zeros", func(t *testing.T, path string) { writeFile(t, path, make([]byte, 1<<16)) }, "restore a copy"},
		{"truncated", func(t *testing.T, path string) {
			makeStore(t, path)
			truncateToHalf(t, path)
		}, "cut off at"},
		{"both metas overwritten", func(t *testing.T, path string) {
			makeStore(t, path)
			overwrite(t, path, 0, make([]byte, 2*os.Getpagesize()))
		}, "restore a copy"},
		{"newer schema", func(t *testing.T, path string) {
			makeStore(t, path)
			updateRaw(t, path, func(tx *bbolt.Tx) error { return writeSchema(tx, schemaVersion+1) })
		}, "or a newer one"},
		{"another program's bbolt file", func(t *testing.T, path string) {
			updateRaw(t, path, func(tx *bbolt.Tx) error {
				_, err := tx.CreateBucket([]byte("io.containerd"))
				return err
			})
		}, "another program"},
		{"damaged record", func(t *testing.T, path string) {
			makeStore(t, path)
			updateRaw(t, path, func(tx *bbolt.Tx) error { return tx.Bucket(bucketEntries).Put([]byte("k"), []byte("short")) })
		}, `entry "k"`},
		{"damaged floor", func(t *testing.T, path string) {
			makeStore(t, path)
			updateRaw(t, path, func(tx *bbolt.Tx) error { return tx.Bucket(bucketMeta).Delete(keyFloor) })
		}, "floor"},
		{"revisions used up", func(t *testing.T, path string) {
			makeStore(t, path)
			updateRaw(t, path, func(tx *bbolt.Tx) error { return writeFloor(tx, maxRevision-epochJump) })
		}, "used up"},
		{"directory", func(t *testing.T, path string) {
			if err := os.Mkdir(path, 0o700); err != nil {
				t.Fatal(err)
			}
		}, "not a directory"},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "store.db")
			test.make(t, path)
			before, _ := os.ReadFile(path)
			wantRefused(t, path, test.want)
			if after, _ := os.ReadFile(path); string(after) != string(before) {
				t.Error("the file was changed")
			}
		})
	}
}

func TestOpenNeedsDirectory(t *testing.T) {
	wantRefused(t, filepath.Join(t.TempDir(), "missing", "store.db"), "create its directory")
}

func TestOpenReadOnlyFileSystem(t *testing.T) {
	dir := mountTmpfs(t, "size=8m")
	path := filepath.Join(dir, "store.db")
	makeStore(t, path)
	if err := syscall.Mount("", dir, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
	wantRefused(t, path, "must be able to write")
}

func TestOpenLocked(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	s := mustOpen(t, path, Options{})
	_, err := Open(path, Options{LockTimeout: 30 * time.Millisecond})
	wantRefusal(t, err, path, "another process has it open")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if s, err = Open(path, Options{}); err != nil {
		t.Fatalf("after Close: %v", err)
	}
	s.Close()
}

// TestOpenDamaged damages a store in many random ways. Open may refuse it or,
// where the damage is in a value, take it; it and what follows must not panic.
func TestOpenDamaged(t *testing.T) {
	t.Parallel()
	original := filepath.Join(t.TempDir(), "store.db")
	makeStore(t, original)
	content, err := os.ReadFile(original)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	refused := 0
	rounds := 150
	if raceDetector || testing.Short() {
		rounds = 50
	}
	for seed := range rounds {
		path := filepath.Join(dir, fmt.Sprint(seed))
		writeFile(t, path, damage(rand.New(rand.NewPCG(uint64(seed), 0)), content))
		s, err := Open(path, Options{})
		if err != nil {
			refused++
			if !strings.Contains(err.Error(), path) {
				t.Errorf("seed %d: error %v does not name the file", seed, err)
			}
		} else {
			exercise(t, s)
		}
		os.Remove(path)
	}
	if refused < rounds/4 || refused == rounds {
		t.Errorf("%d of %d were refused", refused, rounds)
	}
}

// damage returns a copy of the file with one or a few faults.
func damage(r *rand.Rand, content []byte) []byte {
	page := os.Getpagesize()
	b := append([]byte(nil), content...)
	used := b[:min(len(b), 64*page)] // the rest is mostly reserved space
	at := r.IntN(len(used))
	switch r.IntN(5) {
	case 0: // flip a bit
		used[at] ^= 1 << r.IntN(8)
	case 1: // scribble
		for i := at; i < min(at+r.IntN(2*page), len(used)); i++ {
			used[i] = byte(r.Uint32())
		}
	case 2: // lose a page
		clear(used[at/page*page : at/page*page+page])
	case 3: // put a page in the place of another
		from := r.IntN(len(used)) / page * page
		copy(used[at/page*page:][:page], used[from:])
	case 4: // scribble on the headers of some pages
		for range 1 + r.IntN(4) {
			used[r.IntN(len(used)/page)*page+r.IntN(64)] = byte(r.Uint32())
		}
	}
	return b
}

// exercise uses a store whose file is damaged. Errors are welcome.
func exercise(t *testing.T, s *Store) {
	ctx := context.Background()
	page := list(t, s, "")
	for _, e := range s.epochs {
		s.List(ctx, "", store.ListOptions{Revision: e.first})
		if w, err := s.Watch(ctx, "", e.first); err == nil {
			w.Close()
		}
	}
	for _, entry := range page.Entries[:min(5, len(page.Entries))] {
		s.Update(ctx, entry.Key, entry.Value, store.Any)
	}
	s.Close()
}

// makeStore makes a store of many pages: small and large entries, a log.
func makeStore(t testing.TB, path string) {
	t.Helper()
	s := mustOpen(t, path, Options{})
	fill(t, s, 30)
	for i := range 30 {
		if _, err := s.Update(context.Background(), podKey(i), make([]byte, i*i*10), store.Any); err != nil {
			t.Fatal(err)
		}
		if i%3 > 0 {
			continue
		}
		if _, _, err := s.Delete(context.Background(), podKey(i), store.Any); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// updateRaw changes the bbolt file at path behind the store's back.
func updateRaw(t testing.TB, path string, f func(*bbolt.Tx) error) {
	t.Helper()
	db, err := bbolt.Open(path, fileMode, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.Update(f); err != nil {
		t.Fatal(err)
	}
}

func truncateToHalf(t testing.TB, path string) {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	info, _ := file.Stat()
	meta, err := readMeta(file, info.Size())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, int64(meta.pages*meta.pageSize/2)); err != nil {
		t.Fatal(err)
	}
}

func overwrite(t testing.TB, path string, offset int64, b []byte) {
	t.Helper()
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, err := file.WriteAt(b, offset); err != nil {
		t.Fatal(err)
	}
}

func writeFile(t testing.TB, path string, b []byte) {
	t.Helper()
	if err := os.WriteFile(path, b, fileMode); err != nil {
		t.Fatal(err)
	}
}

func wantRefused(t *testing.T, path, want string) {
	t.Helper()
	s, err := Open(path, Options{})
	if err == nil {
		s.Close()
	}
	wantRefusal(t, err, path, want)
}

func wantRefusal(t *testing.T, err error, path, want string) {
	t.Helper()
	if err == nil {
		t.Fatal("no error")
	}
	t.Log(err)
	if !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), want) {
		t.Errorf("error %q does not name the file and say %q", err, want)
	}
}

// mountTmpfs mounts a small file system until the test's end.
func mountTmpfs(t *testing.T, options string) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, options); err != nil {
		t.Skipf("mount: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}
