// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package dispatch

import (
	"context"
	"testing"
	"testing/synctest"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-run/berth/api"
	"github.com/berth-run/berth/server/nodes"
	"github.com/berth-run/berth/server/registry"
)

func (w *world) deleteNode(name string) {
	w.t.Helper()
	if _, err := w.registry.Delete(w.t.Context(), api.Nodes, "", name, metav1.DeleteOptions{}); err != nil {
		w.t.Fatal(err)
	}
}

// unregistered expects the end of a session whose Node was deleted.
func (a *testAgent) unregistered() {
	a.t.Helper()
	if m, err := a.stream.Recv(); status.Code(err) != codes.Unavailable {
		a.t.Fatalf("%v, %v, want Unavailable", m, err)
	}
}

func TestDeletedNodeIsRegisteredAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		pod := w.createPod(newPod("p", "n1"))
		other, _ := w.connect("n2")
		first, _ := w.connect("n1")
		w.deleteNode("n1")
		first.unregistered()

		second, got := w.connect("n1", podKey(pod))
		equal(t, got, "SYNCED")
		node, err := w.registry.Get(t.Context(), api.Nodes, "", "n1")
		if err != nil || node.GetUID() == first.node || node.GetUID() != second.node {
			t.Fatalf("node %v, %v", node, err)
		}
		other.quiet()
	})
}

func TestUpdatedNodeKeepsItsSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		agent, _ := w.connect("n1")
		node, err := w.registry.Get(t.Context(), api.Nodes, "", "n1")
		if err != nil {
			t.Fatal(err)
		}
		cordoned := node.DeepCopyObject().(*corev1.Node)
		cordoned.Spec.Unschedulable = true
		if _, _, err := w.registry.Update(t.Context(), api.Nodes, "", "n1", cordoned, registry.WriteOptions{}); err != nil {
			t.Fatal(err)
		}
		agent.quiet()
	})
}

// hastyUser deletes each Node right after it was registered, before its session is
// known.
type hastyUser struct {
	Nodes
	delete func(name string)
}

func (u hastyUser) Register(ctx context.Context, id string, presented *corev1.Node) (*corev1.Node, error) {
	node, err := u.Nodes.Register(ctx, id, presented)
	if err == nil {
		u.delete(node.Name)
	}
	return node, err
}

func TestNodeDeletedWhileItsSessionBegins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		n, err := nodes.New(w.registry, nodes.Options{})
		if err != nil {
			t.Fatal(err)
		}
		// Nothing feeds this one: what happened before its session is known is past.
		d := New(w.registry, hastyUser{n, w.deleteNode}, Options{})
		ctx, mine, end, err := d.sessions.begin(t.Context(), agent{node: "n1"})
		if err != nil {
			t.Fatal(err)
		}
		defer end()
		if _, err := d.register(ctx, mine, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1"}}); err != nil {
			t.Fatal(err)
		}
		if err := d.ended(ctx, nil); status.Code(err) != codes.Unavailable {
			t.Errorf("the session ends with %v, want Unavailable", err)
		}
	})
}
