// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package nodes

import (
	"log/slog"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// The Node tells which agent registered it; that it is another one than before is
// logged, once.
func TestNodeTellsItsAgent(t *testing.T) {
	var logged strings.Builder
	n := newNodes(t, newRegistry(t), Options{Logger: slog.New(slog.NewTextHandler(&logged, nil))})
	for _, step := range []struct {
		id   string
		warn bool
	}{{"1111aaaa", false}, {"1111aaaa", false}, {"2222bbbb", true}, {"2222bbbb", false}} {
		logged.Reset()
		node, err := n.Register(t.Context(), step.id, presented(100, corev1.ConditionTrue))
		if err != nil {
			t.Fatal(err)
		}
		if got := node.Annotations["berth.run/node-id"]; got != step.id {
			t.Errorf("annotation %q, want %q", got, step.id)
		}
		if warned := strings.Contains(logged.String(), "former=1111aaaa"); warned != step.warn {
			t.Errorf("agent %s: logged %s", step.id, logged.String())
		}
	}
}

func TestAgentIsTheOneThatConnectedLast(t *testing.T) {
	p := newPresence()
	if id, ok := p.Agent("n1"); ok {
		t.Errorf("agent %q of a node that nobody has heard of", id)
	}
	p.Connect("n1", "1111aaaa")()
	p.Heartbeat("n1")
	if id, ok := p.Agent("n1"); id != "1111aaaa" || !ok {
		t.Errorf("agent %q, %v", id, ok)
	}
	p.Connect("n1", "2222bbbb")
	if id, _ := p.Agent("n1"); id != "2222bbbb" {
		t.Errorf("agent %q", id)
	}
}
