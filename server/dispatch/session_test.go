// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package dispatch

import (
	"testing"
	"testing/synctest"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-run/berth/api"
	nodepb "github.com/berth-run/berth/proto/berth/node/v1"
	"github.com/berth-run/berth/server/registry"
)

func TestFirstSetThenChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		w.createPod(newPod("a", "n1"))
		w.createPod(newPod("other", "n2"))
		w.createPod(newPod("unbound", ""))
		agent, first := w.connect("n1")
		equal(t, first, "ADD a", "SYNCED")

		w.createPod(newPod("b", "n1"))
		agent.expect("ADD b")
		b := w.pod("b").DeepCopy()
		b.Labels = map[string]string{"x": "y"}
		if _, _, err := w.registry.Update(t.Context(), api.Pods, "default", "b", b, registry.WriteOptions{}); err != nil {
			t.Fatal(err)
		}
		agent.expect("UPDATE b")
		w.deletePod("b", 30)
		agent.expect("DELETE b")
		w.deletePod("b", 5)
		agent.expect("DELETE b")
		w.deletePod("b", 0)
		agent.expect("REMOVE b")
		agent.quiet()
	})
}

func TestBindingIsAnAdd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		agent, _ := w.connect("n1")
		pod := w.createPod(newPod("p", ""))
		if err := w.registry.Bind(t.Context(), "default", &corev1.Binding{
			ObjectMeta: metav1.ObjectMeta{Name: "p", UID: pod.UID}, Target: corev1.ObjectReference{Kind: "Node", Name: "n1"},
		}); err != nil {
			t.Fatal(err)
		}
		agent.expect("ADD p")
	})
}

// The inventory differs in every way from what the node should have.
func TestInventoryDiffers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		w.create(api.Nodes, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1"}})
		same := w.createPod(withSecret(newPod("same", "n1"), "held"))
		changed := w.createPod(newPod("changed", "n1"))
		deleting := w.createPod(newPod("deleting", "n1"))
		w.deletePod("deleting", 30)
		w.createPod(withSecret(newPod("new", "n1"), "new"))
		replaced := w.createPod(newPod("replaced", "n1"))
		held := w.create(api.Secrets, newSecret("held", "1"))
		w.create(api.Secrets, newSecret("new", "2"))
		unnamed := w.create(api.Secrets, newSecret("unnamed", "3"))

		changedKey, replacedKey := podKey(changed), podKey(replaced)
		changedKey.ResourceVersion = "1"
		replacedKey.Uid = "former-uid"
		_, got := w.connect("n1", podKey(same), changedKey, podKey(deleting), replacedKey,
			key("Secret", held), key("Secret", unnamed))
		equal(t, got,
			"secret new=2",
			"UPDATE changed", "DELETE deleting", "ADD new", "ADD replaced",
			"REMOVE replaced",
			"forget secret unnamed",
			"SYNCED")
	})
}

func TestSameInventoryGetsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		pod := w.createPod(withSecret(newPod("p", "n1"), "s"))
		secret := w.create(api.Secrets, newSecret("s", "1"))
		_, got := w.connect("n1", podKey(pod), key("Secret", secret))
		equal(t, got, "SYNCED")
	})
}

// An agent whose pods came from another store keeps what this one does not have,
// and gets what it has.
func TestAnotherStoreRemovesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		known := w.createPod(newPod("known", "n1"))
		agent := w.open("n1", "store-0")
		knownKey := podKey(known)
		knownKey.ResourceVersion = "77"
		got := agent.sync(knownKey,
			&nodepb.ObjectKey{Kind: "Pod", Namespace: "default", Name: "stranger", Uid: "u"},
			&nodepb.ObjectKey{Kind: "Secret", Namespace: "default", Name: "stranger", Uid: "u"})
		equal(t, got, "UPDATE known", "SYNCED")
		w.deletePod("known", 0)
		agent.expect("REMOVE known")
	})
}

func TestSecretsComeBeforeThePodsThatNameThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		agent, _ := w.connect("n1")
		for range 50 {
			w.create(api.Secrets, newSecret("s", "1"))
			w.createPod(withSecret(newPod("p", "n1"), "s"))
			agent.expect("secret s=1", "ADD p")
			w.deletePod("p", 0)
			agent.expect("REMOVE p", "forget secret s")
			if _, err := w.registry.Delete(t.Context(), api.Secrets, "default", "s", metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func TestNamedObjectsAreFollowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		agent, _ := w.connect("n1")
		w.createPod(withSecret(newPod("p", "n1"), "s"))
		agent.expect("ADD p")
		w.create(api.Secrets, newSecret("s", "1"))
		agent.expect("secret s=1")
		if _, _, err := w.registry.Update(t.Context(), api.Secrets, "default", "s", newSecret("s", "2"), registry.WriteOptions{}); err != nil {
			t.Fatal(err)
		}
		agent.expect("secret s=2")
		if _, err := w.registry.Delete(t.Context(), api.Secrets, "default", "s", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		agent.expect("forget secret s")
		w.create(api.Secrets, newSecret("unnamed", "1"))
		agent.quiet()
	})
}

func TestNewestSessionOfAnAgentEndsItsOlder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		w.createPod(newPod("p", "n1"))
		older, _ := w.connect("n1")
		newer, got := w.connect("n1")
		equal(t, got, "ADD p", "SYNCED")
		if _, err := older.stream.Recv(); status.Code(err) != codes.Aborted {
			t.Errorf("the older session ends with %v, want Aborted", err)
		}
		w.createPod(newPod("q", "n1"))
		newer.expect("ADD q")
	})
}

func TestSessionBeginsWithHello(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		stream, err := w.client.Session(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		_ = stream.Send(&nodepb.AgentMessage{Message: &nodepb.AgentMessage_Heartbeat{Heartbeat: &nodepb.Heartbeat{}}})
		if _, err := stream.Recv(); status.Code(err) != codes.InvalidArgument {
			t.Errorf("without Hello: %v, want InvalidArgument", err)
		}
		silent, err := w.client.Session(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := silent.Recv(); status.Code(err) != codes.DeadlineExceeded {
			t.Errorf("without a word: %v, want DeadlineExceeded", err)
		}
	})
}

func TestMessagesOutOfPlaceEndTheSession(t *testing.T) {
	for name, m := range map[string]*nodepb.AgentMessage{
		"second inventory": {Message: &nodepb.AgentMessage_Inventory{Inventory: &nodepb.Inventory{Done: true}}},
		"second hello":     {Message: &nodepb.AgentMessage_Hello{Hello: &nodepb.Hello{}}},
		"nothing":          {},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, nil)
				agent, _ := w.connect("n1")
				agent.send(m)
				if _, err := agent.stream.Recv(); status.Code(err) != codes.InvalidArgument {
					t.Errorf("%v, want InvalidArgument", err)
				}
			})
		})
	}
}
