// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"context"
	"log/slog"
	"slices"
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-run/berth/agent/podtypes"
)

type recorder struct{ reasons, messages []string }

func (r *recorder) Record(pod *corev1.Pod, _, _, reason, message string) {
	r.reasons = append(r.reasons, pod.Name+" "+reason)
	r.messages = append(r.messages, message)
}

func run(t *testing.T, test func(t *testing.T, m *Mux, r *recorder)) {
	synctest.Test(t, func(t *testing.T) {
		r := &recorder{}
		m := New(r, slog.New(slog.DiscardHandler))
		m.Source("server")
		m.Source("file")
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- m.Run(ctx) }()
		defer func() {
			cancel()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}()
		test(t, m, r)
	})
}

func TestReadyWhenAllThatWasSaidIsTaken(t *testing.T) {
	run(t, func(t *testing.T, m *Mux, _ *recorder) {
		go func() {
			m.Source("server") <- podtypes.PodUpdate{Op: podtypes.ADD, Pods: []*corev1.Pod{newPod("a", "1")}}
			m.Source("server") <- podtypes.PodUpdate{Op: podtypes.SYNCED}
		}()
		synctest.Wait()
		if m.Ready("server") {
			t.Error("ready though nobody has taken the update")
		}
		if u := <-m.Updates(); u.Op != podtypes.ADD || u.Source != "server" {
			t.Errorf("got %+v", u)
		}
		synctest.Wait()
		if !m.Ready("server") || m.Ready("file") || m.AllReady() {
			t.Error("want the server ready, and not all")
		}
		m.Source("file") <- podtypes.PodUpdate{Op: podtypes.SYNCED}
		synctest.Wait()
		if !m.AllReady() {
			t.Error("want all ready")
		}
	})
}

func TestNamesTakenAreTold(t *testing.T) {
	run(t, func(t *testing.T, m *Mux, r *recorder) {
		m.Source("server") <- podtypes.PodUpdate{Op: podtypes.ADD, Source: "forged", Pods: []*corev1.Pod{newPod("a", "1")}}
		if u := <-m.Updates(); u.Source != "server" {
			t.Errorf("source %s", u.Source)
		}
		m.Source("file") <- podtypes.PodUpdate{Op: podtypes.SET, Pods: []*corev1.Pod{newPod("a", "2")}}
		synctest.Wait()
		if want := []string{"a FailedValidation"}; !slices.Equal(r.reasons, want) {
			t.Errorf("events %q, want %q", r.reasons, want)
		}
		if held := m.Pods("file"); len(held) != 1 || held[0].UID != "2" {
			t.Errorf("the file source holds %v", held)
		}
	})
}

func TestHeldPodIsTheNewestThoughNothingIsTold(t *testing.T) {
	run(t, func(t *testing.T, m *Mux, _ *recorder) {
		m.Source("server") <- podtypes.PodUpdate{Op: podtypes.ADD, Pods: []*corev1.Pod{newPod("a", "1")}}
		<-m.Updates()
		newer := newPod("a", "1", func(p *corev1.Pod) { p.ResourceVersion = "2" })
		m.Source("server") <- podtypes.PodUpdate{Op: podtypes.UPDATE, Pods: []*corev1.Pod{newer}}
		synctest.Wait()
		if held := m.Pods("server"); held[0].ResourceVersion != "2" {
			t.Error("the inventory is out of date")
		}
	})
}

func TestRunEndsWhileNobodyReads(t *testing.T) {
	run(t, func(_ *testing.T, m *Mux, _ *recorder) {
		m.Source("server") <- podtypes.PodUpdate{Op: podtypes.ADD, Pods: []*corev1.Pod{newPod("a", "1")}}
	})
}
