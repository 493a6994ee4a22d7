// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-run/berth/test/internal/harness"
)

// history is every state of the test's pods that a watch has shown, oldest first.
type history struct {
	mu   sync.Mutex
	pods []corev1.Pod
}

// record watches the test's pods from now until the test ends. The server must not be
// killed meanwhile.
func (w *world) record() *history {
	w.t.Helper()
	h := &history{}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		ended <- w.WatchPods(ctx, harness.PodPath(w.ns, "")+"?watch=true", func(e harness.WatchEvent) bool {
			h.add(e.Object)
			return true
		})
	}()
	w.t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil && ctx.Err() == nil {
			w.t.Errorf("the watch of the pods ended: %v", err)
		}
	})
	return h
}

func (h *history) add(pod corev1.Pod) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.pods = append(h.pods, pod)
}

// uids are those of all pods that were seen.
func (h *history) uids() map[types.UID]bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	all := map[types.UID]bool{}
	for _, p := range h.pods {
		all[p.UID] = true
	}
	return all
}

// of returns the states of a pod.
func (h *history) of(name string) []corev1.Pod {
	h.mu.Lock()
	defer h.mu.Unlock()
	var states []corev1.Pod
	for _, p := range h.pods {
		if p.Name == name {
			states = append(states, p)
		}
	}
	return states
}

// last is the state in which a pod was seen last.
func (h *history) last(t *testing.T, name string) *corev1.Pod {
	t.Helper()
	states := h.of(name)
	if len(states) == 0 {
		t.Fatalf("pod %s was never seen", name)
	}
	return &states[len(states)-1]
}

// addresses are those that a pod was shown with, each as often as it changed.
func (h *history) addresses(name string) []string {
	var all []string
	for _, p := range h.of(name) {
		if ip := p.Status.PodIP; ip != "" && (len(all) == 0 || all[len(all)-1] != ip) {
			all = append(all, ip)
		}
	}
	return all
}
