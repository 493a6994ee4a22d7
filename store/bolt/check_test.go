// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package bolt

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/berth-run/berth/store"
)

func TestCheck(t *testing.T) {
	path := filepath.Join(t.TempDir(), "berth.db")
	s, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Check(t.Context()); err != nil {
		t.Errorf("an open store: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Check(t.Context()); !errors.Is(err, store.ErrClosed) {
		t.Errorf("a closed store: %v", err)
	}
}

func TestCheckOfAFileThatLostItsPages(t *testing.T) {
	path := filepath.Join(t.TempDir(), "berth.db")
	s, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	// bbolt's two first pages it reads under a lock, which a fault would leave held.
	if err := os.Truncate(path, 2*int64(os.Getpagesize())); err != nil {
		t.Fatal(err)
	}
	if err := s.Check(t.Context()); !errors.Is(err, store.ErrUnavailable) || !strings.Contains(err.Error(), path) {
		t.Errorf("%v, want ErrUnavailable with the file's name", err)
	}
}
