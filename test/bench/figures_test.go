// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"fmt"
	"io"
	"math"
	"slices"
	"testing"
	"text/tabwriter"
	"time"
)

// sample holds the durations of one thing done many times.
type sample []time.Duration

// quantile returns the smallest duration that at least a share of all, from 0 to 1,
// does not exceed, in milliseconds; 0 if there is none.
func (s sample) quantile(share float64) float64 {
	if len(s) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(s))
	at := max(0, int(math.Ceil(share*float64(len(sorted))))-1)
	return float64(sorted[at].Microseconds()) / 1000
}

func (s sample) median() float64 { return s.quantile(0.5) }

func TestQuantile(t *testing.T) {
	var s sample
	for _, ms := range []int{30, 10, 20, 40} {
		s = append(s, time.Duration(ms)*time.Millisecond)
	}
	for _, tc := range []struct{ share, want float64 }{{0, 10}, {0.5, 20}, {0.75, 30}, {0.99, 40}, {1, 40}} {
		if got := s.quantile(tc.share); got != tc.want {
			t.Errorf("quantile %v = %v, want %v", tc.share, got, tc.want)
		}
	}
	if got := (sample{}).quantile(0.5); got != 0 {
		t.Errorf("quantile of nothing = %v, want 0", got)
	}
}

// figures are what one run has measured.
type figures struct {
	start, floorStart sample
	end, floorEnd     sample
	// restart is from the kill of a container's process to the start of the next,
	// seen to when the status shows it.
	restart, seen sample
	// memory in MiB.
	fresh, idle, after memory
}

type memory struct{ server, agent float64 }

func (m memory) sum() float64 { return m.server + m.agent }

// print writes the table of all figures, with the goals beside them.
func (f *figures) print(out io.Writer) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	row := func(cells ...any) {
		for _, c := range cells {
			fmt.Fprintf(w, "%v\t", c)
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintf(out, "\n%d pods each, in turn; ms\n", len(f.start))
	row("", "floor median", "p99", "berth median", "p99", "ratio", "goal")
	f.pair(row, "POST → Ready", f.floorStart, f.start, "≤ 1.2")
	f.pair(row, "DELETE → gone", f.floorEnd, f.end, "≤ 1.4")
	f.single(row, "killed → new process", f.restart, "≤ 200 ms")
	f.single(row, "killed → seen running", f.seen, "")
	w.Flush()

	fmt.Fprintln(out, "\nRSS, MiB")
	row("", "server", "agent", "sum", "goal")
	for _, m := range []struct {
		when, goal string
		memory
	}{
		{"fresh", "≤ 80", f.fresh},
		{"idle after the first pod", "≤ 80", f.idle},
		{"after all pods", "", f.after},
	} {
		row(m.when, one(m.server), one(m.agent), one(m.sum()), m.goal)
	}
	w.Flush()
}

func (f *figures) pair(row func(...any), name string, floor, berth sample, goal string) {
	row(name, one(floor.median()), one(floor.quantile(0.99)), one(berth.median()), one(berth.quantile(0.99)),
		fmt.Sprintf("%.2f", berth.median()/floor.median()), goal)
}

func (f *figures) single(row func(...any), name string, s sample, goal string) {
	row(name, "", "", one(s.median()), one(s.quantile(0.99)), "", goal)
}

func one(figure float64) string { return fmt.Sprintf("%.1f", figure) }
