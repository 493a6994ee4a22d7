// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package bolt

import "testing"

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
		e, err := epochAfter(head)
		if err != nil || e.previous != head || e.first < head+epochJump || e.first >= head+2*epochJump || seen[e.id] {
			t.Fatalf("%+v, %v", e, err)
		}
		seen[e.id] = true
	}
	if _, err := epochAfter(maxRevision - epochJump); err == nil {
		t.Error("an epoch beyond the last revision")
	}
}
