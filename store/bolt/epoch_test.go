// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package bolt

import (
	mathrand "math/rand/v2"
	"slices"
	"testing"
)

// sampleEpochs: 100–110 by a first opening, 200 by one that wrote nothing,
// 300–head by the one that runs.
var sampleEpochs = epochs{{first: 100}, {first: 200, previous: 110}, {first: 300, previous: 200}}

func TestAssigned(t *testing.T) {
	const head = 320
	for revision, want := range map[int64]bool{
		-1: false, 0: false, 99: false,
		100: true, 105: true, 110: true, 111: false, 199: false,
		200: true, 201: false, 299: false,
		300: true, 320: true, 321: false, 1 << 60: false,
	} {
		if got := sampleEpochs.assigned(revision, head); got != want {
			t.Errorf("assigned(%d) = %v", revision, got)
		}
	}
}

func TestForgettable(t *testing.T) {
	for floor, want := range map[int64]int{0: 0, 110: 0, 199: 0, 200: 1, 299: 1, 300: 2, 1000: 2} {
		if got := sampleEpochs.forgettable(floor); got != want {
			t.Errorf("forgettable(%d) = %d, want %d", floor, got, want)
		}
	}
	many := make(epochs, keepEpochs+3)
	for i := range many {
		many[i].first = int64(i)
	}
	if got := many.forgettable(-1); got != 3 {
		t.Errorf("%d of too many are forgettable", got)
	}
}

func TestEpochAfter(t *testing.T) {
	const head = 1000
	seen := map[string]bool{}
	for range 100 {
		e, err := epochAfter(head, mathrand.Int64N)
		if err != nil || e.previous != head || e.first < head+epochJump || e.first >= head+epochJump+epochSpread(head) || seen[e.id] {
			t.Fatalf("%+v, %v", e, err)
		}
		seen[e.id] = true
	}
	if _, err := epochAfter(maxRevision-epochJump, mathrand.Int64N); err == nil {
		t.Error("an epoch beyond the last revision")
	}
}

// The random part is worth its name at first and after years of openings.
func TestCopiesMissEachOther(t *testing.T) {
	const writes = 100_000 // in the epoch of each copy
	for _, head := range []int64{0, 1 << 50, 1 << 52} {
		if p := float64(2*writes) / float64(epochSpread(head)); p > 2e-6 {
			t.Errorf("from head %d two copies overlap with a probability of %g", head, p)
		}
	}
	random := mathrand.New(mathrand.NewPCG(1, 2))
	var firsts []int64
	for range 50 {
		e, err := epochAfter(1000, random.Int64N)
		if err != nil {
			t.Fatal(err)
		}
		firsts = append(firsts, e.first)
	}
	slices.Sort(firsts)
	for i := range firsts[1:] {
		if distance := firsts[i+1] - firsts[i]; distance <= writes {
			t.Errorf("two of 50 copies begin %d revisions apart", distance)
		}
	}
}

// However the dice fall, the revisions outlast any number of openings that comes
// to pass, also of a server that restarts each second for days.
func TestRevisionsOutlastManyOpenings(t *testing.T) {
	const writes = 1000
	for name, test := range map[string]struct {
		random   func(int64) int64
		openings int
	}{
		"at worst":   {func(n int64) int64 { return n - 1 }, 300_000},
		"on average": {func(n int64) int64 { return n / 2 }, 600_000},
	} {
		head := int64(0)
		for i := range test.openings {
			e, err := epochAfter(head, test.random)
			if err != nil || e.first <= head || e.first > maxRevision {
				t.Fatalf("%s: opening %d at %d: %+v, %v", name, i, head, e, err)
			}
			head = e.first + writes
		}
	}
}
