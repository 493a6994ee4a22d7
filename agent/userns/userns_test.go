// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package userns

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/types"
)

func mustOf(t *testing.T, r *Ranges, uid types.UID) uint32 {
	t.Helper()
	first, err := r.Of(uid)
	if err != nil {
		t.Fatal(err)
	}
	return first
}

func TestRangesAreApartAndStay(t *testing.T) {
	dir := t.TempDir()
	r := New(dir)
	a, b := mustOf(t, r, "a"), mustOf(t, r, "b")
	if a == b || a%Length != 0 || b%Length != 0 || a == 0 || b == 0 {
		t.Errorf("a has %d, b has %d", a, b)
	}
	if again := mustOf(t, New(dir), "a"); again != a {
		t.Errorf("after a restart a has %d, before %d", again, a)
	}
	if err := os.RemoveAll(filepath.Join(dir, "a")); err != nil {
		t.Fatal(err)
	}
	if c := mustOf(t, New(dir), "c"); c != a {
		t.Errorf("c has %d, and not %d, which a has given up", c, a)
	}
}

func TestRangesOfPodsAtOnceAreApart(t *testing.T) {
	r := New(t.TempDir())
	var all sync.Map
	var wg sync.WaitGroup
	for _, uid := range []types.UID{"a", "b", "c", "d", "e", "f"} {
		wg.Go(func() {
			first, err := r.Of(uid)
			if err != nil {
				t.Error(err)
			}
			if other, twice := all.LoadOrStore(first, uid); twice {
				t.Errorf("%s and %s have %d", uid, other, first)
			}
		})
	}
	wg.Wait()
}

func TestDamagedRecordIsNotReplaced(t *testing.T) {
	dir := t.TempDir()
	for uid, content := range map[types.UID]string{"a": "", "b": "x", "c": "65537", "d": "0", "e": "4294967296"} {
		if err := os.MkdirAll(filepath.Join(dir, string(uid)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, string(uid), file), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if first, err := New(dir).Of(uid); err == nil {
			t.Errorf("%q is the range from %d", content, first)
		}
	}
}

func TestFree(t *testing.T) {
	const last = blocks - 2
	all := map[uint32]bool{}
	for block := range uint32(blocks) {
		all[block] = true
	}
	if block, ok := free(all, 7); ok {
		t.Errorf("of no block, %d is free", block)
	}
	delete(all, 5)
	for name, tt := range map[string]struct {
		taken map[uint32]bool
		from  uint32
		want  uint32
	}{
		"the first":       {nil, 0, 1},
		"the last":        {nil, last - 1, last},
		"around the end":  {map[uint32]bool{last: true}, last - 1, 1},
		"the only one":    {all, 60000, 5},
		"beyond the last": {nil, last, 1},
	} {
		if block, ok := free(tt.taken, tt.from); !ok || block != tt.want {
			t.Errorf("%s: %d, %v; want %d", name, block, ok, tt.want)
		}
	}
}
