// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package diskusage

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestOf(t *testing.T) {
	const size = 1 << 20
	write := func(t *testing.T, path string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, make([]byte, size), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, tc := range map[string]struct {
		fill func(t *testing.T, dir string)
		want int64 // of whole files
	}{
		"empty": {func(*testing.T, string) {}, 0},
		"nested": {func(t *testing.T, dir string) {
			write(t, filepath.Join(dir, "a"))
			write(t, filepath.Join(dir, "b", "c", "d"))
		}, 2},
		"two names of one file": {func(t *testing.T, dir string) {
			write(t, filepath.Join(dir, "a"))
			if err := os.Link(filepath.Join(dir, "a"), filepath.Join(dir, "b")); err != nil {
				t.Fatal(err)
			}
		}, 1},
		"a link out of it": {func(t *testing.T, dir string) {
			outside := t.TempDir()
			write(t, filepath.Join(outside, "a"))
			for name, target := range map[string]string{"dir": outside, "file": filepath.Join(outside, "a")} {
				if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
					t.Fatal(err)
				}
			}
		}, 0},
		"a hole": {func(t *testing.T, dir string) {
			write(t, filepath.Join(dir, "a"))
			if err := os.Truncate(filepath.Join(dir, "a"), 100*size); err != nil {
				t.Fatal(err)
			}
		}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			tc.fill(t, dir)
			got, err := Of(t.Context(), dir)
			if err != nil {
				t.Fatal(err)
			}
			if got < tc.want*size || got >= tc.want*size+size/2 {
				t.Errorf("%d bytes, want about %d", got, tc.want*size)
			}
		})
	}
}

func TestWhatIsMissingTakesNothing(t *testing.T) {
	if got, err := Of(t.Context(), filepath.Join(t.TempDir(), "missing")); got != 0 || err != nil {
		t.Errorf("%d, %v", got, err)
	}
}

func TestOfEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Of(ctx, t.TempDir()); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}
