// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"net/http"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/berth-run/berth/test/internal/harness"
)

// hungry asks for six tenths of a node's processors.
func (w *world) hungry(name string) *corev1.Pod {
	w.t.Helper()
	milli := w.cpuOf("node1") * 6 / 10
	c := app("c")
	c.Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: *resource.NewMilliQuantity(milli, resource.DecimalSI)}
	return pod(name, c)
}

// cpuOf is what the node has for pods, in thousandths of a processor.
func (w *world) cpuOf(name string) int64 {
	w.t.Helper()
	var node corev1.Node
	if _, err := w.Do(w.ctx(), http.MethodGet, "/api/v1/nodes/"+name, nil, &node); err != nil {
		w.t.Fatal(err)
	}
	return node.Status.Allocatable.Cpu().MilliValue()
}

func TestPodsThatDoNotFitOneNodeLandOnBothAndAThirdWaits(t *testing.T) {
	w := shared(t)
	w.create(w.hungry("first"))
	w.create(w.hungry("second"))
	first, second := w.ready("first"), w.ready("second")
	if first.Spec.NodeName == second.Spec.NodeName {
		t.Errorf("both run on %s", first.Spec.NodeName)
	}
	w.create(w.hungry("third"))
	w.wait("third", "says why it waits", func(p *corev1.Pod) bool {
		for _, c := range p.Status.Conditions {
			if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse {
				return p.Status.Phase == corev1.PodPending && strings.Contains(c.Message, "Insufficient cpu")
			}
		}
		return false
	})
	w.delete("first", 1)
	if third := w.ready("third"); third.Spec.NodeName != first.Spec.NodeName {
		t.Errorf("the third runs on %s; the room is on %s", third.Spec.NodeName, first.Spec.NodeName)
	}
}

func TestPodsBoundByNameRunOnTheirNodes(t *testing.T) {
	w := shared(t)
	for _, node := range []string{"node1", "node2"} {
		c := app("c", "serve", "80")
		w.create(onNode(pod("on-"+node, c), node))
	}
	ips := map[string]bool{}
	for _, node := range []string{"node1", "node2"} {
		p := w.ready("on-" + node)
		if page := w.page(p, "/"); !strings.Contains(page, "on-"+node) {
			t.Errorf("%s serves %q", p.Name, page)
		}
		ips[p.Status.PodIP] = true
	}
	if len(ips) != 2 {
		t.Errorf("addresses: %v", ips)
	}
}

func TestAPodBoundToAnUnregisteredNodeIsStoredWithAWarning(t *testing.T) {
	w := shared(t)
	warnings := w.post(harness.PodPath(w.ns, ""), onNode(pod("p", app("c")), "ghost"), nil)
	if !strings.Contains(strings.Join(warnings, " "), "ghost") {
		t.Errorf("warnings: %q", warnings)
	}
	w.delete("p", -1)
	w.gone("p", testTimeout)
}
