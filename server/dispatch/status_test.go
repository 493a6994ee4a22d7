// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package dispatch

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-run/berth/api"
	corepb "github.com/berth-run/berth/proto/berth/core/v1"
	nodepb "github.com/berth-run/berth/proto/berth/node/v1"
	"github.com/berth-run/berth/server/registry"
)

var running = corev1.PodStatus{Phase: corev1.PodRunning, PodIP: "10.0.0.7"}

func TestStatusIsAcknowledgedAfterItIsStored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		pod := w.createPod(newPod("p", "n1"))
		agent, _ := w.connect("n1", podKey(pod))
		agent.report(pod, 3, running, false)
		if ack := agent.ack(); ack.GetVersion() != 3 || ack.GetError() != "" || ack.GetUid() != string(pod.UID) {
			t.Errorf("ack %v", ack)
		}
		if got := w.pod("p").Status.Phase; got != corev1.PodRunning {
			t.Errorf("phase %s, want Running", got)
		}
		agent.report(pod, 2, corev1.PodStatus{Phase: corev1.PodPending}, false)
		if ack := agent.ack(); ack.GetVersion() != 2 || ack.GetError() != "" {
			t.Errorf("ack of a superseded report: %v", ack)
		}
		if got := w.pod("p").Status.Phase; got != corev1.PodRunning {
			t.Errorf("an older report was applied: phase %s", got)
		}
	})
}

// Deleted and created again under its name, a pod is not touched by what is told
// of its predecessor.
func TestB023StatusOfTheFormerUIDIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		former := w.createPod(newPod("p", "n1"))
		agent, _ := w.connect("n1", podKey(former))
		for version := range uint64(50) {
			w.deletePod("p", 0)
			now := w.createPod(newPod("p", "n1"))
			agent.report(former, version+1, running, false)
			if ack := agent.ack(); ack.GetError() == "" {
				t.Fatal("the former pod's status was taken")
			}
			got := w.pod("p")
			if got.UID != now.UID || got.Status.Phase != corev1.PodPending || got.Status.PodIP != "" {
				t.Fatalf("pod %s (want %s): %+v", got.UID, now.UID, got.Status)
			}
			former = now
		}
	})
}

func TestAnotherNodesPodIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		pod := w.createPod(newPod("p", "n2"))
		agent, _ := w.connect("n1")
		agent.report(pod, 1, running, true)
		if ack := agent.ack(); ack.GetError() == "" {
			t.Error("another node's pod was reported without an error")
		}
		if got := w.pod("p").Status.Phase; got != corev1.PodPending {
			t.Errorf("phase %s, want Pending", got)
		}
	})
}

func TestTerminatedPodsRecordGoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		agent, _ := w.connect("n1")
		pod := w.createPod(newPod("p", "n1"))
		w.deletePod("p", 30)
		ended := corev1.PodStatus{Phase: corev1.PodFailed}
		agent.report(pod, 1, ended, true)
		if ack := agent.ack(); ack.GetError() != "" {
			t.Fatal(ack.GetError())
		}
		if _, err := w.registry.Get(t.Context(), api.Pods, "default", "p"); !apierrors.IsNotFound(err) {
			t.Errorf("the record is still there: %v", err)
		}
		agent.report(pod, 2, ended, true)
		if ack := agent.ack(); ack.GetError() != "" {
			t.Errorf("a pod that has gone already: %s", ack.GetError())
		}
	})
}

func TestTerminatedPodWithoutDeletionStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		pod := w.createPod(newPod("p", "n1"))
		agent, _ := w.connect("n1", podKey(pod))
		agent.report(pod, 1, corev1.PodStatus{Phase: corev1.PodSucceeded}, true)
		agent.ack()
		if got := w.pod("p").Status.Phase; got != corev1.PodSucceeded {
			t.Errorf("phase %s, want Succeeded", got)
		}
	})
}

// slowStatuses is a registry in which each status takes a second to store.
type slowStatuses struct {
	Registry
	failures atomic.Int32
}

func (s *slowStatuses) ApplyPodStatus(ctx context.Context, node string, r registry.PodStatus) (string, error) {
	select {
	case <-time.After(time.Second):
	case <-ctx.Done():
		return "", ctx.Err()
	}
	if s.failures.Add(-1) >= 0 {
		return "", apierrors.NewInternalError(fmt.Errorf("disk full"))
	}
	return s.Registry.ApplyPodStatus(ctx, node, r)
}

// One commit after the other would take 50 s.
func TestReportsOfDifferentPodsAreStoredAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(r Registry) Registry { return &slowStatuses{Registry: r} })
		agent, _ := w.connect("n1")
		var pods []*corev1.Pod
		for i := range 50 {
			pods = append(pods, w.createPod(newPod(fmt.Sprintf("p%d", i), "n1")))
		}
		began := time.Now()
		for _, pod := range pods {
			agent.report(pod, 1, running, false)
		}
		for range pods {
			agent.ack()
		}
		if took := time.Since(began); took > 2*time.Second {
			t.Errorf("50 statuses took %v", took)
		}
	})
}

// Of the reports of one pod that come while one is stored, the newest is next.
func TestReportsOfOnePodStayInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(r Registry) Registry { return &slowStatuses{Registry: r} })
		pod := w.createPod(newPod("p", "n1"))
		agent, _ := w.connect("n1", podKey(pod))
		began := time.Now()
		for version := range uint64(20) {
			agent.report(pod, version+1, corev1.PodStatus{Phase: corev1.PodRunning, Message: fmt.Sprint(version + 1)}, false)
		}
		for agent.ack().GetVersion() != 20 {
		}
		if got := w.pod("p").Status.Message; got != "20" {
			t.Errorf("the status of version %s is stored, want 20", got)
		}
		if took := time.Since(began); took > 3*time.Second {
			t.Errorf("20 reports took %v, want two writes", took)
		}
	})
}

func TestPassingFailureIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(r Registry) Registry {
			s := &slowStatuses{Registry: r}
			s.failures.Store(3)
			return s
		})
		pod := w.createPod(newPod("p", "n1"))
		agent, _ := w.connect("n1", podKey(pod))
		agent.report(pod, 1, running, false)
		if ack := agent.ack(); ack.GetError() != "" {
			t.Errorf("refused: %s", ack.GetError())
		}
		if got := w.pod("p").Status.Phase; got != corev1.PodRunning {
			t.Errorf("phase %s, want Running", got)
		}
	})
}

func TestNodeStatusAndEventsAreStored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		agent, _ := w.connect("n1")
		status := corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}}
		data, _ := status.Marshal()
		agent.send(&nodepb.AgentMessage{Message: &nodepb.AgentMessage_NodeStatus{
			NodeStatus: &nodepb.NodeStatusReport{Status: api.Raw(&corepb.NodeStatus{}, data)},
		}})
		for _, count := range []int32{1, 3, 2} {
			event := &corev1.Event{
				ObjectMeta:     metav1.ObjectMeta{Namespace: "default", Name: "p.1"},
				InvolvedObject: corev1.ObjectReference{Kind: "Pod", Namespace: "default", Name: "p"},
				Reason:         "Started", Type: "Normal", Count: count,
			}
			data, _ := event.Marshal()
			agent.send(&nodepb.AgentMessage{Message: &nodepb.AgentMessage_Event{
				Event: &nodepb.EventReport{Event: api.Raw(&corepb.Event{}, data)},
			}})
		}
		time.Sleep(time.Second)
		synctest.Wait()
		node, err := w.registry.Get(t.Context(), api.Nodes, "", "n1")
		if err != nil || len(node.(*corev1.Node).Status.Conditions) != 1 {
			t.Errorf("node %v, %v", node, err)
		}
		event, err := w.registry.Get(t.Context(), api.Events, "default", "p.1")
		if err != nil || event.(*corev1.Event).Count != 3 {
			t.Errorf("event %v, %v", event, err)
		}
	})
}

func TestApplierForgetsWhatIsGone(t *testing.T) {
	refuse := func(context.Context, *nodepb.PodStatusReport) (bool, error) {
		return true, apierrors.NewNotFound(api.Pods.GroupResource(), "p")
	}
	var acks []string
	a := newApplier(refuse, func(ack *nodepb.StatusAck) { acks = append(acks, ack.GetError()) })
	for i := range 100 {
		a.submit(t.Context(), &nodepb.PodStatusReport{Uid: fmt.Sprint(i), Version: 1})
		a.wait()
	}
	if len(a.pods) != 0 {
		t.Errorf("%d pods are remembered", len(a.pods))
	}
	if len(acks) != 100 || !strings.Contains(acks[0], "not found") {
		t.Errorf("%d acks, the first %q", len(acks), acks[0])
	}
}
