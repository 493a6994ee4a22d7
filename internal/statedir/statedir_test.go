// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package statedir

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const maker = "berth test"

// newDir makes and marks a directory.
func newDir(t *testing.T) *Dir {
	t.Helper()
	d, err := Make(filepath.Join(t.TempDir(), "a", "b"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	if err := d.Mark(Mark{MadeBy: maker}); err != nil {
		t.Fatal(err)
	}
	return d
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestADirectoryIsLockedOnce(t *testing.T) {
	d := newDir(t)
	for _, lock := range []func(string) (*Dir, error){Make, Open} {
		if _, err := lock(d.Path()); !errors.Is(err, ErrInUse) {
			t.Errorf("lock again: %v", err)
		}
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := Open(d.Path())
	if err != nil {
		t.Fatal(err)
	}
	again.Close()
}

func TestOpenMakesNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "missing")
	if _, err := Open(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Open of a missing directory: %v", err)
	}
	file := filepath.Join(t.TempDir(), "file")
	write(t, file, "")
	for _, lock := range []func(string) (*Dir, error){Make, Open} {
		if _, err := lock(file); err == nil || !strings.Contains(err.Error(), "directory "+file) {
			t.Errorf("lock of a file: %v", err)
		}
	}
}

// Who waits for nothing must not hold a directory that another removed meanwhile.
func TestARemovedDirectoryIsNotLocked(t *testing.T) {
	d := newDir(t)
	if err := os.RemoveAll(d.Path()); err != nil {
		t.Fatal(err)
	}
	if err := d.lock(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("lock = %v", err)
	}
	if err := os.Mkdir(d.Path(), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := d.lock(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("lock with another in its place = %v", err)
	}
}

func TestReadMark(t *testing.T) {
	for name, test := range map[string]struct {
		change func(t *testing.T, d *Dir)
		want   string
	}{
		"as it was made":     {func(*testing.T, *Dir) {}, ""},
		"by a symbolic link": {func(t *testing.T, d *Dir) { d.path = link(t, d.path) }, ""},
		"no mark":            {func(t *testing.T, d *Dir) { os.Remove(filepath.Join(d.path, MarkFile)) }, "has no berth.json"},
		"damaged":            {func(t *testing.T, d *Dir) { write(t, filepath.Join(d.path, MarkFile), "{") }, "berth.json: unexpected end"},
		"of another command": {func(t *testing.T, d *Dir) { d.Mark(Mark{MadeBy: "other"}) }, `madeBy in its berth.json is "other", not "berth test"`},
		"a copy":             {func(t *testing.T, d *Dir) { d.path = copied(t, d.path) }, "it was copied or moved"},
		"moved":              {func(t *testing.T, d *Dir) { d.path = moved(t, d.path) }, "it was copied or moved"},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDir(t)
			made := d.Path()
			test.change(t, d)
			m, err := d.ReadMark(maker)
			if test.want == "" {
				if err != nil || m.Path != made || m.MadeBy != maker {
					t.Errorf("ReadMark = %+v, %v", m, err)
				}
			} else if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("ReadMark = %v, want %q", err, test.want)
			}
			if errors.Is(err, ErrNotMarked) != (name == "no mark") {
				t.Errorf("ErrNotMarked for %q", name)
			}
		})
	}
}

func link(t *testing.T, dir string) string {
	path := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, path); err != nil {
		t.Fatal(err)
	}
	return path
}

func copied(t *testing.T, dir string) string {
	path := filepath.Join(t.TempDir(), "copy")
	if err := os.CopyFS(path, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	return path
}

func moved(t *testing.T, dir string) string {
	path := filepath.Join(t.TempDir(), "moved")
	if err := os.Rename(dir, path); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestRemove(t *testing.T) {
	for name, test := range map[string]struct {
		entries  []string
		patterns []string
		kept     []string
	}{
		"nothing else in it":  {nil, nil, nil},
		"all known":           {[]string{"pods/uid/x", "id", "id.1234"}, []string{"pods", "id", "id.*"}, nil},
		"a mark not in place": {[]string{".berth.json-12"}, nil, nil},
		"others":              {[]string{"pods/x", "notes", "id2", "more/x"}, []string{"pods", "id"}, []string{"id2", "more", "notes"}},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDir(t)
			for _, e := range test.entries {
				write(t, filepath.Join(d.Path(), e), "")
			}
			for range 2 {
				kept, err := d.Remove(test.patterns...)
				if errors.Is(err, fs.ErrNotExist) && len(test.kept) == 0 {
					break // the second time it is gone
				}
				if err != nil || !slices.Equal(kept, test.kept) {
					t.Errorf("Remove = %v, %v, want %v", kept, err, test.kept)
				}
			}
			entries, err := os.ReadDir(d.Path())
			if len(test.kept) == 0 {
				if !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("left: %v, %v", entries, err)
				}
			} else if len(entries) != len(test.kept)+1 {
				t.Errorf("left: %v, want %v and the mark", entries, test.kept)
			}
		})
	}
}

// A symbolic link among the entries goes, and not what it leads to.
func TestRemoveFollowsNoLink(t *testing.T) {
	d, elsewhere := newDir(t), t.TempDir()
	write(t, filepath.Join(elsewhere, "file"), "")
	if err := os.Symlink(elsewhere, filepath.Join(d.Path(), "pods")); err != nil {
		t.Fatal(err)
	}
	if kept, err := d.Remove("pods"); err != nil || kept != nil {
		t.Errorf("Remove = %v, %v", kept, err)
	}
	if _, err := os.Stat(filepath.Join(elsewhere, "file")); err != nil {
		t.Error(err)
	}
}
