// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package events

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-run/berth/internal/eventrecorder"
	"github.com/berth-run/berth/server/registry"
	"github.com/berth-run/berth/store/bolt"
)

// BenchmarkRepeatedEvent has a pod say the same a thousand times, and shows what
// that costs the store: with each time stored, and as it is.
func BenchmarkRepeatedEvent(b *testing.B) {
	about := corev1.ObjectReference{APIVersion: "v1", Kind: "Pod", Namespace: "default", Name: "web", UID: "8f0c7a52-6f0e-4f5a-9a0e-1c2d3e4f5a6b"}
	b.Run("each", func(b *testing.B) {
		measure(b, func(w Writer) {
			again := event("web.18eccf88e2711bce", time.Now())
			again.InvolvedObject, again.Message = about, backOff
			for range 1000 {
				store(b, w, again)
				again.Count++
			}
		})
	})
	b.Run("correlated", func(b *testing.B) {
		measure(b, func(w Writer) {
			r := eventrecorder.New()
			for range 1000 {
				r.Record(corev1.EventSource{Component: "berth-agent", Host: "n1"}, about, corev1.EventTypeWarning, "BackOff", backOff)
				for len(r.Events()) > 0 {
					store(b, w, <-r.Events())
				}
			}
		})
	})
}

const backOff = "Back-off restarting failed container web in pod web_default(8f0c7a52-6f0e-4f5a-9a0e-1c2d3e4f5a6b)"

func store(b *testing.B, w Writer, e *corev1.Event) {
	if err := w.Store(b.Context(), e); err != nil {
		b.Fatal(err)
	}
}

func measure(b *testing.B, tell func(Writer)) {
	for b.Loop() {
		s, err := bolt.Open(filepath.Join(b.TempDir(), "berth.db"), bolt.Options{})
		if err != nil {
			b.Fatal(err)
		}
		reg := registry.New(s, registry.Options{})
		if err := reg.EnsureDefaults(b.Context()); err != nil {
			b.Fatal(err)
		}
		head, before := s.Head(), written(b)
		tell(Writer{reg})
		b.ReportMetric(float64(s.Head()-head), "writes")
		b.ReportMetric(float64(written(b)-before)/1024, "written-KiB")
		s.Close()
	}
}

// written is how many bytes this process has written.
func written(b *testing.B) (bytes int64) {
	io, err := os.ReadFile("/proc/self/io")
	if err != nil {
		b.Skip(err)
	}
	for line := range strings.Lines(string(io)) {
		if _, err := fmt.Sscanf(line, "wchar: %d", &bytes); err == nil {
			return bytes
		}
	}
	b.Skip("/proc/self/io has no wchar")
	return 0
}
