// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package dispatch

import (
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-run/berth/api"
	corepb "github.com/berth-run/berth/proto/berth/core/v1"
	nodepb "github.com/berth-run/berth/proto/berth/node/v1"
	"github.com/berth-run/berth/server/registry"
)

// removed reads up to the next REMOVE and returns the grace that its pod has.
func removed(t *testing.T, next func() *nodepb.PodUpdate) time.Duration {
	t.Helper()
	for {
		u := next()
		if u.GetOp() != nodepb.PodUpdate_REMOVE {
			continue
		}
		obj, err := api.ToObject(api.Pods, u.GetPods()[0])
		if err != nil {
			t.Fatal(err)
		}
		return api.GracePeriod(obj.(*corev1.Pod))
	}
}

func (w *world) watchNode(node string) func() *nodepb.PodUpdate {
	w.t.Helper()
	view, err := w.client.WatchNode(w.t.Context(), &nodepb.WatchNodeRequest{Node: node})
	if err != nil {
		w.t.Fatal(err)
	}
	for reply := recvReply(w.t, view); reply.GetSynced() == nil; reply = recvReply(w.t, view) {
	}
	return func() *nodepb.PodUpdate { return recvReply(w.t, view).GetPodUpdate() }
}

func recvReply(t *testing.T, view grpc.ServerStreamingClient[nodepb.WatchNodeReply]) *nodepb.WatchNodeReply {
	t.Helper()
	reply, err := view.Recv()
	if err != nil {
		t.Fatal(err)
	}
	return reply
}

// What a node still runs of a pod whose record is gone ends within the grace that
// the deletion had, whoever removed the record.
func TestRemoveCarriesTheLastGrace(t *testing.T) {
	forced, short := int64(0), int64(7)
	for name, test := range map[string]struct {
		node  string
		ended bool
		grace *int64
		want  time.Duration
	}{
		"forced":                   {"n1", false, &forced, 0},
		"it has ended":             {"n1", true, nil, 30 * time.Second},
		"it has ended, as asked":   {"n1", true, &short, 7 * time.Second},
		"unregistered":             {"stranger", false, nil, 30 * time.Second},
		"unregistered, as asked":   {"stranger", false, &short, 7 * time.Second},
		"unregistered, and forced": {"stranger", false, &forced, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, nil)
				agent, _ := w.connect("n1")
				pod := w.createPod(newPod("p", test.node))
				next := w.watchNode(test.node)
				if test.ended {
					report := registry.PodStatus{Namespace: "default", Name: "p", UID: pod.UID, Status: corev1.PodStatus{Phase: corev1.PodFailed}}
					if _, err := w.registry.ApplyPodStatus(t.Context(), "n1", report); err != nil {
						t.Fatal(err)
					}
				}
				options := metav1.DeleteOptions{GracePeriodSeconds: test.grace}
				if _, err := w.registry.Delete(t.Context(), api.Pods, "default", "p", options); err != nil {
					t.Fatal(err)
				}
				if got := removed(t, next); got != test.want {
					t.Errorf("WatchNode shows a grace of %v, want %v", got, test.want)
				}
				if test.node != "n1" {
					return
				}
				if got := removed(t, func() *nodepb.PodUpdate { return agent.recv().GetPodUpdate() }); got != test.want {
					t.Errorf("the agent gets a grace of %v, want %v", got, test.want)
				}
			})
		})
	}
}

func TestRemoveOfAConfirmedDeletion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		agent, _ := w.connect("n1")
		pod := w.createPod(newPod("p", "n1"))
		w.deletePod("p", 20)
		agent.until("DELETE p")
		agent.report(pod, 1, corev1.PodStatus{Phase: corev1.PodFailed}, true)
		if got := removed(t, func() *nodepb.PodUpdate { return agent.recv().GetPodUpdate() }); got != 20*time.Second {
			t.Errorf("a grace of %v, want 20s", got)
		}
	})
}

// A reader that was told of no more than a pod's name is told no grace.
func TestRemoveOfWhatOnlyTheInventoryKnows(t *testing.T) {
	last := heldPod{namespace: "default", name: "p"}.removed("u")
	m := &corepb.Pod{}
	if err := api.FromObject(last.object, m); err != nil {
		t.Fatal(err)
	}
	if m.GetMetadata().DeletionGracePeriodSeconds != nil || m.GetMetadata().GetUid() != "u" {
		t.Errorf("%v", m)
	}
}
