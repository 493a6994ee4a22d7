// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package bolt

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/berth-run/berth/store"
	"github.com/berth-run/berth/store/storetest"
)

func TestMain(m *testing.M) {
	if path := os.Getenv(childEnv); path != "" {
		os.Exit(runChild(path))
	}
	goleak.VerifyTestMain(m)
}

func TestStore(t *testing.T) {
	storetest.Run(t, func(t testing.TB) storetest.Engine {
		return engineAt(filepath.Join(t.TempDir(), "store.db"))
	})
}

func engineAt(path string) storetest.Engine {
	const watchBuffer = 600
	return storetest.Engine{
		Open: func(t testing.TB) store.Store {
			return mustOpen(t, path, Options{WatchBuffer: watchBuffer, ProgressInterval: 20 * time.Millisecond})
		},
		Compact: func(t testing.TB, s store.Store) { compactAll(t, s.(*Store)) },
		Copy: func(t testing.TB) storetest.Engine {
			to := filepath.Join(t.TempDir(), "copy.db")
			copyFile(t, path, to)
			return engineAt(to)
		},
		Lag: watchBuffer + 1,
	}
}

func mustOpen(t testing.TB, path string, opts Options) *Store {
	t.Helper()
	s, err := Open(path, opts)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// newStore opens a store in a new directory until the test's end.
func newStore(t testing.TB, opts Options) *Store {
	t.Helper()
	s := mustOpen(t, filepath.Join(t.TempDir(), "store.db"), opts)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// compactAll removes every event of the log.
func compactAll(t testing.TB, s *Store) {
	t.Helper()
	all := *s.compactor
	all.maxAge = -time.Hour
	if err := all.compact(context.Background()); err != nil {
		t.Fatal(err)
	}
}

func copyFile(t testing.TB, from, to string) {
	t.Helper()
	in, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	if _, err := io.Copy(out, in); err != nil {
		t.Fatal(err)
	}
}
