// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"net/http"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// The tasks "Advertise Extended Resources for a Node" and "Assign Extended Resources to
// a Container": what is counted on a node is given away once.
func TestExtendedResources(t *testing.T) {
	w := shared(t)
	const node, dongle = "/api/v1/nodes/node2", "test.example.com/dongle"
	patch := func(ctx context.Context, count string) {
		t.Helper()
		body := []byte(`{"status":{"capacity":{"` + dongle + `":` + count + `}}}`)
		if _, err := w.Do(ctx, http.MethodPatch, node+"/status", body, nil); err != nil {
			t.Error(err)
		}
	}
	patch(w.ctx(), `"4"`)
	t.Cleanup(func() { patch(context.WithoutCancel(t.Context()), "null") })
	var got corev1.Node
	if _, err := w.Do(w.ctx(), http.MethodGet, node, nil, &got); err != nil {
		t.Fatal(err)
	}
	if q := got.Status.Allocatable[dongle]; q.Value() != 4 {
		t.Errorf("allocatable: %v", got.Status.Allocatable)
	}

	w.create(pod("three", w.withResources("c", `{requests: {`+dongle+`: 3}, limits: {`+dongle+`: 3}}`)))
	if p := w.ready("three"); p.Spec.NodeName != "node2" {
		t.Errorf("runs on %s", p.Spec.NodeName)
	}
	w.create(pod("two", w.withResources("c", `{limits: {`+dongle+`: 2}}`)))
	w.wait("two", "waits", func(p *corev1.Pod) bool {
		return strings.Contains(conditionOf(p, corev1.PodScheduled).Message, "Insufficient "+dongle)
	})
	w.delete("three", 0)
	if p := w.ready("two"); p.Spec.NodeName != "node2" {
		t.Errorf("runs on %s", p.Spec.NodeName)
	}
}
