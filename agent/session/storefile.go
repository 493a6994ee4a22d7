// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package session

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/berth-run/berth/internal/atomicfile"
)

// readStoreID returns the store that the file names; empty if there is no file.
func readStoreID(file string) (string, error) {
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read which store the pods came from: %w", err)
	}
	return strings.TrimSpace(string(data)), nil
}

// writeStoreID makes the file name the store. It replaces the file as a whole, so
// that a crash leaves the former one.
func writeStoreID(file, id string) error {
	if known, err := readStoreID(file); err == nil && known == id {
		return nil
	}
	if err := atomicfile.Write(file, []byte(id+"\n"), 0o600); err != nil {
		return fmt.Errorf("remember which store the pods came from: %w", err)
	}
	return nil
}
