// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package events

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

var epoch = time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)

// at is an event that was written that many minutes after the epoch.
func at(name string, minutes int) *entry {
	return &entry{uid: types.UID(name), name: name, last: epoch.Add(time.Duration(minutes) * time.Minute)}
}

func names(entries []*entry) (all []string) {
	for _, e := range entries {
		all = append(all, e.name)
	}
	return all
}

func TestWhatIsToGo(t *testing.T) {
	written := func(minutes ...int) *ledger {
		l := newLedger()
		for _, m := range minutes {
			l.set(at(fmt.Sprint(m), m))
		}
		return l
	}
	hour := policy{ttl: time.Hour, max: 100}
	for name, tc := range map[string]struct {
		policy           policy
		ledger           *ledger
		now, n           int
		expired, surplus []string
	}{
		"nothing":              {hour, written(), 60, 10, nil, nil},
		"not yet":              {hour, written(1, 2), 60, 10, nil, nil},
		"at the TTL":           {hour, written(3, 1, 2), 62, 10, []string{"1", "2"}, nil},
		"no more than asked":   {hour, written(3, 1, 2), 90, 2, []string{"1", "2"}, nil},
		"never":                {policy{max: 100}, written(1, 2), 1e6, 10, nil, nil},
		"as many as may be":    {policy{ttl: time.Hour, max: 3}, written(1, 2, 3), 5, 10, nil, nil},
		"one too many":         {policy{ttl: time.Hour, max: 3}, written(4, 2, 3, 1), 5, 10, nil, []string{"1"}},
		"some old, some more":  {policy{ttl: time.Hour, max: 2}, written(1, 2, 3, 4), 61, 10, []string{"1"}, []string{"2"}},
		"surplus for more":     {policy{ttl: time.Hour, max: 32}, written(seq(33)...), 40, 10, nil, []string{"0", "1", "2"}},
		"surplus, few at once": {policy{ttl: time.Hour, max: 2}, written(seq(9)...), 62, 4, []string{"0", "1", "2"}, []string{"3"}},
	} {
		t.Run(name, func(t *testing.T) {
			before := tc.ledger.len()
			expired, surplus := tc.policy.take(tc.ledger, epoch.Add(time.Duration(tc.now)*time.Minute), tc.n)
			if !slices.Equal(names(expired), tc.expired) || !slices.Equal(names(surplus), tc.surplus) {
				t.Errorf("expired %v, surplus %v; want %v and %v", names(expired), names(surplus), tc.expired, tc.surplus)
			}
			if left := tc.ledger.len(); left != before-len(expired)-len(surplus) || left != len(tc.ledger.byUID) {
				t.Errorf("%d are left, %d of them known", left, len(tc.ledger.byUID))
			}
		})
	}
}

func seq(n int) (all []int) {
	for i := range n {
		all = append(all, i)
	}
	return all
}

// Whatever comes, is written again and goes: the oldest is taken first.
func TestLedgerKeepsTheOrder(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	l := newLedger()
	want := map[string]int{}
	for range 5000 {
		name := fmt.Sprint(random.IntN(200))
		if random.IntN(3) == 0 {
			l.remove(types.UID(name))
			delete(want, name)
			continue
		}
		minutes := random.IntN(1e6)
		l.set(at(name, minutes))
		want[name] = minutes
	}
	taken := l.takeOldest(1000, func(*entry) bool { return true })
	if len(taken) != len(want) || l.len() != 0 || len(l.byUID) != 0 {
		t.Fatalf("%d taken of %d, %d left", len(taken), len(want), l.len())
	}
	for i, e := range taken {
		if i > 0 && e.last.Before(taken[i-1].last) {
			t.Fatalf("%v follows %v", e.last, taken[i-1].last)
		}
		if !e.last.Equal(at("", want[e.name]).last) {
			t.Errorf("%s is of %v", e.name, e.last)
		}
	}
}

func TestOfOneTimeTheFirstWriteIsTheOlder(t *testing.T) {
	l := newLedger()
	for _, revision := range []uint64{9, 10, 2} {
		e := at(fmt.Sprint(revision), 1)
		e.revision = revision
		l.set(e)
	}
	if got := names(l.takeOldest(3, func(*entry) bool { return true })); !slices.Equal(got, []string{"2", "9", "10"}) {
		t.Errorf("order %v", got)
	}
}

func TestLastWritten(t *testing.T) {
	now := epoch
	ago := func(d time.Duration) metav1.Time { return metav1.NewTime(now.Add(-d)) }
	for name, tc := range map[string]struct {
		event corev1.Event
		want  time.Duration // ago
	}{
		"last time":    {corev1.Event{LastTimestamp: ago(time.Minute), FirstTimestamp: ago(time.Hour)}, time.Minute},
		"series":       {corev1.Event{EventTime: metav1.MicroTime(ago(time.Hour)), Series: &corev1.EventSeries{LastObservedTime: metav1.MicroTime(ago(time.Minute))}}, time.Minute},
		"clock behind": {corev1.Event{LastTimestamp: ago(5 * time.Hour), ObjectMeta: metav1.ObjectMeta{CreationTimestamp: ago(time.Minute)}}, time.Minute},
		"future":       {corev1.Event{LastTimestamp: ago(-24 * time.Hour)}, 0},
		"future birth": {corev1.Event{LastTimestamp: ago(time.Hour), ObjectMeta: metav1.ObjectMeta{CreationTimestamp: ago(-time.Hour)}}, 0},
	} {
		if got := now.Sub(lastWritten(&tc.event, now)); got != tc.want {
			t.Errorf("%s: written %v ago, want %v", name, got, tc.want)
		}
	}
}
