// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package volume

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// dataLink names the symlink that swaps all files of a volume at once. The names
// are those that programs know from Kubernetes: they watch ..data for changes.
const dataLink = "..data"

// writeAtomically makes dir show exactly the payload, so that a reader sees all
// old or all new files. The files lie in a directory of their own, ..data points
// to it, and what users open are links through ..data:
//
//	a       -> ..data/a
//	sub     -> ..data/sub
//	..data  -> ..2039847
func writeAtomically(dir string, files payload) error {
	current, _ := os.Readlink(filepath.Join(dir, dataLink)) // empty before the first write
	if current != "" && shows(filepath.Join(dir, current), files) {
		return nil
	}
	fresh, err := writeFresh(dir, files)
	if err != nil {
		return err
	}
	if err := replaceLink(filepath.Join(dir, dataLink), filepath.Base(fresh)); err != nil {
		return errors.Join(err, os.RemoveAll(fresh))
	}
	return tidy(dir, filepath.Base(fresh), files)
}

// isWritten tells whether the directory shows files of whatever payload.
func isWritten(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, dataLink))
	return err == nil
}

// shows tells whether the directory holds the payload and nothing else.
func shows(dir string, files payload) bool {
	found := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		want, ok := files[rel]
		if !ok {
			return errors.New("a file too many")
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if !bytes.Equal(data, want.data) || info.Mode().Perm() != want.mode.Perm() {
			return errors.New("another content")
		}
		found++
		return nil
	})
	return err == nil && found == len(files)
}

func writeFresh(dir string, files payload) (string, error) {
	fresh, err := os.MkdirTemp(dir, "..")
	if err != nil {
		return "", err
	}
	volume, err := os.Stat(dir)
	if err != nil {
		return "", errors.Join(err, os.Remove(fresh))
	}
	// What is written has the volume's group, if it has one.
	if err := os.Chmod(fresh, 0o755|volume.Mode()&fs.ModeSetgid); err != nil {
		return "", err
	}
	for name, f := range files {
		if err := writeFile(filepath.Join(fresh, name), f); err != nil {
			return "", errors.Join(err, os.RemoveAll(fresh))
		}
	}
	return fresh, nil
}

func writeFile(path string, f file) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(path, f.data, f.mode); err != nil {
		return err
	}
	return os.Chmod(path, f.mode) // whatever the umask is
}

func replaceLink(path, target string) error {
	next := path + "_tmp"
	if err := os.Remove(next); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.Symlink(target, next); err != nil {
		return err
	}
	return os.Rename(next, path)
}

// tidy makes a link for each first path element of the payload, and removes
// those of files that are gone and every directory of files but the fresh one,
// such as one that a crash left.
func tidy(dir, fresh string, files payload) error {
	missing := map[string]bool{}
	for name := range files {
		first, _, _ := strings.Cut(name, "/")
		missing[first] = true
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		switch name := e.Name(); {
		case name == dataLink || name == fresh:
		case missing[name]:
			delete(missing, name)
		default:
			if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
				return err
			}
		}
	}
	for name := range missing {
		if err := os.Symlink(filepath.Join(dataLink, name), filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	return nil
}
