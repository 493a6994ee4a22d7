// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package pulled

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/berth-run/berth/internal/atomicfile"
)

// files keep one JSON value each, by name, in a directory for root alone.
type files struct{ dir string }

// path hashes the name: those of images have slashes.
func (f files) path(name string) string {
	return filepath.Join(f.dir, fmt.Sprintf("%x.json", sha256.Sum256([]byte(name))))
}

// read fails with fs.ErrNotExist for a value that is not there.
func (f files) read(name string, into any) error { return readFile(f.path(name), into) }

func readFile(path string, into any) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, into); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// write replaces the value as a whole, so that it is there after whatever failure.
func (f files) write(name string, value any) error {
	data, err := json.Marshal(value)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(f.dir, 0o700); err != nil {
		return err
	}
	return atomicfile.Write(f.path(name), data, 0o600)
}

func (f files) remove(name string) error {
	if err := os.Remove(f.path(name)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// each calls fn with the path of each value.
func (f files) each(fn func(path string) error) error {
	entries, err := os.ReadDir(f.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	errs := []error{err}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".") {
			errs = append(errs, fn(filepath.Join(f.dir, e.Name())))
		}
	}
	return errors.Join(errs...)
}
