// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"fmt"
	"io"
	"slices"
	"testing"
	"text/tabwriter"
)

// apiFigures are what one run has measured of the API.
type apiFigures struct {
	floorCreates                   throughput
	rest, grpc                     wayFigures
	jsonList, protoList, tableList listFigures
}

// wayFigures are those of one way into the API.
type wayFigures struct {
	creates, deletes throughput
	// lag is from the request to the event that the watcher sees.
	lag sample
	// createCPU is what the server works for one create, its watcher included.
	createCPU sample
}

// throughput is what loads have measured, of which each has a rate.
type throughput struct {
	rates     []float64
	latencies sample
}

func (t *throughput) add(o outcome) {
	t.rates = append(t.rates, o.rate)
	t.latencies = append(t.latencies, o.latencies...)
}

// rate is the median of all loads.
func (t *throughput) rate() float64 {
	if len(t.rates) == 0 {
		return 0
	}
	return slices.Sorted(slices.Values(t.rates))[len(t.rates)/2]
}

type listFigures struct {
	took sample
	size int64
}

func (l *listFigures) add(took sample, size int64) {
	l.took = append(l.took, took...)
	l.size = size
}

// report gives the figures that have a goal to the benchmark.
func (f *apiFigures) report(b *testing.B) {
	b.ReportMetric(f.floorCreates.rate(), "floor-creates/s")
	b.ReportMetric(f.rest.creates.rate(), "rest-creates/s")
	b.ReportMetric(f.rest.creates.latencies.quantile(0.99), "rest-p99-ms")
	b.ReportMetric(f.grpc.creates.rate(), "grpc-creates/s")
	b.ReportMetric(f.grpc.creates.latencies.quantile(0.99), "grpc-p99-ms")
	b.ReportMetric(f.rest.lag.quantile(0.99), "watch-lag-p99-ms")
	b.ReportMetric(f.jsonList.took.median(), "list-json-ms")
	b.ReportMetric(f.rest.deletes.rate(), "rest-deletes/s")
}

// print writes the table of all figures, with the goals beside them.
func (f *apiFigures) print(out io.Writer) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	row := func(cells ...any) {
		for _, c := range cells {
			fmt.Fprintf(w, "%v\t", c)
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintf(out, "\n%d clients, %d pods in each of %d turns; ms\n", clients, loadPods, len(f.floorCreates.rates))
	row("", "per second", "of floor", "median", "p99", "goal")
	f.load(row, "floor: HTTP and a commit", f.floorCreates, "")
	f.load(row, "creates, REST", f.rest.creates, "≥ 2000/s, p99 ≤ 25")
	f.load(row, "creates, gRPC", f.grpc.creates, "≥ 3000/s, p99 ≤ 25")
	f.load(row, "deletes, REST", f.rest.deletes, "")
	f.load(row, "deletes, gRPC", f.grpc.deletes, "")
	f.wait(row, "POST → event", f.rest.lag, "p99 ≤ 25")
	f.wait(row, "Create → event", f.grpc.lag, "p99 ≤ 25")
	f.wait(row, "server's CPU for a create, REST", f.rest.createCPU, "")
	f.wait(row, "server's CPU for a create, gRPC", f.grpc.createCPU, "")
	f.list(row, "list, JSON", f.jsonList, "≤ 40")
	f.list(row, "list, protobuf", f.protoList, "")
	f.list(row, "list, Table", f.tableList, "")
	w.Flush()
}

func (f *apiFigures) load(row func(...any), name string, t throughput, goal string) {
	row(name, fmt.Sprintf("%.0f", t.rate()), fmt.Sprintf("%.2f", t.rate()/f.floorCreates.rate()),
		one(t.latencies.median()), one(t.latencies.quantile(0.99)), goal)
}

func (f *apiFigures) wait(row func(...any), name string, s sample, goal string) {
	row(name, "", "", fmt.Sprintf("%.2f", s.median()), one(s.quantile(0.99)), goal)
}

func (f *apiFigures) list(row func(...any), name string, l listFigures, goal string) {
	f.wait(row, fmt.Sprintf("%s, %.1f MB", name, float64(l.size)/1e6), l.took, goal)
}
