// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package scheduler

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-run/berth/api/fit"
)

func readyNode(name, cpu string) *corev1.Node {
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Status: corev1.NodeStatus{
			Allocatable: corev1.ResourceList{
				corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse("4Gi"),
			},
			Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}},
		},
	}
}

func cpuPod(name, cpu string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name)},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}}}}},
	}
}

func bound(pod *corev1.Pod, node string) *corev1.Pod {
	pod = pod.DeepCopy()
	pod.Spec.NodeName = node
	return pod
}

func TestDecide(t *testing.T) {
	candidate := func(node *corev1.Node, pods ...*corev1.Pod) Candidate {
		return Candidate{Node: node, Usage: fit.UsageOf(pods)}
	}
	cordoned := readyNode("n1", "2")
	cordoned.Spec.Unschedulable = true
	lost := readyNode("n2", "2")
	lost.Status.Conditions[0].Status = corev1.ConditionUnknown

	for name, tc := range map[string]struct {
		candidates []Candidate
		want, err  string
	}{
		"least requested": {
			candidates: []Candidate{candidate(readyNode("n1", "2"), cpuPod("x", "1")), candidate(readyNode("n2", "2"))},
			want:       "n2",
		},
		"fewest pods among equals": {
			candidates: []Candidate{candidate(readyNode("n1", "2"), cpuPod("x", "0")), candidate(readyNode("n2", "2"))},
			want:       "n2",
		},
		"first by name among equals": {
			candidates: []Candidate{candidate(readyNode("n2", "2")), candidate(readyNode("n1", "2"))},
			want:       "n1",
		},
		"no nodes": {err: "no nodes are registered"},
		"cordoned, not ready, full": {
			candidates: []Candidate{candidate(cordoned), candidate(lost), candidate(readyNode("n3", "2"), cpuPod("x", "1500m"))},
			err: "0/3 nodes are available: n1: node(s) were unschedulable; n2: node(s) were not ready; " +
				"n3: Insufficient cpu: 1 requested, 500m of 2 free.",
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Decide(cpuPod("p", "1"), tc.candidates)
			if got != tc.want {
				t.Errorf("node %q, want %q", got, tc.want)
			}
			if message := fmt.Sprint(err); tc.err != "" && message != tc.err {
				t.Errorf("error %q, want %q", message, tc.err)
			}
		})
	}
}

func TestDecideCountsReasonsOfManyNodes(t *testing.T) {
	var candidates []Candidate
	for i := range 50 {
		candidates = append(candidates, Candidate{Node: readyNode(fmt.Sprint(i), "1"), Usage: &fit.Usage{}})
	}
	_, err := Decide(cpuPod("p", "2"), candidates)
	if want := "0/50 nodes are available: 50 Insufficient cpu."; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// fakeBinder plays the registry: what it binds comes back as a change.
type fakeBinder struct {
	mu        sync.Mutex
	onBind    func(*corev1.Pod)
	failures  int
	nodes     map[string]string
	messages  map[string]string
	reminders int
}

func (b *fakeBinder) Bind(_ context.Context, pod *corev1.Pod, node string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.failures > 0 {
		b.failures--
		return errors.New("the store is away")
	}
	b.nodes[pod.Name] = node
	go b.onBind(bound(pod, node))
	return nil
}

func (b *fakeBinder) Unschedulable(_ context.Context, pod *corev1.Pod, v Verdict) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.messages[pod.Name] = v.Message
	if v.Remind {
		b.reminders++
	}
	return nil
}

func (b *fakeBinder) reminded() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.reminders
}

// start runs a scheduler in the bubble until the test's end.
func start(t *testing.T) (*Scheduler, *fakeBinder) { return startWith(t, nil) }

func startWith(t *testing.T, metrics prometheus.Registerer) (*Scheduler, *fakeBinder) {
	b := &fakeBinder{nodes: map[string]string{}, messages: map[string]string{}}
	s := New(b, slog.New(slog.DiscardHandler), metrics)
	b.onBind = func(p *corev1.Pod) { s.PodChanged(p) }
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); s.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-done })
	return s, b
}

func TestTwoPodsLandOnBothNodesAndTheThirdWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, b := start(t)
		s.NodeChanged(readyNode("n1", "2"))
		s.NodeChanged(readyNode("n2", "2"))
		for _, name := range []string{"a", "b", "c"} {
			s.PodChanged(cpuPod(name, "1500m"))
		}
		synctest.Wait()
		if got := slices.Sorted(maps.Values(b.nodes)); !slices.Equal(got, []string{"n1", "n2"}) {
			t.Fatalf("bound to %v", b.nodes)
		}
		waiting := slices.Collect(maps.Keys(b.messages))
		if len(waiting) != 1 || !strings.Contains(b.messages[waiting[0]], "Insufficient cpu") {
			t.Fatalf("told %v", b.messages)
		}

		for name := range b.nodes { // one goes, so the third has room
			s.PodRemoved(types.UID(name))
			break
		}
		synctest.Wait()
		if len(b.nodes) != 3 {
			t.Errorf("the third pod did not get the room that was freed: %v", b.nodes)
		}
	})
}

func TestANodeThatComesWakesThePodsThatWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, b := start(t)
		s.PodChanged(cpuPod("a", "1"))
		synctest.Wait()
		if b.messages["a"] != "no nodes are registered" {
			t.Fatalf("told %q", b.messages["a"])
		}
		s.NodeChanged(readyNode("n1", "2"))
		synctest.Wait()
		if b.nodes["a"] != "n1" {
			t.Errorf("bound to %q", b.nodes["a"])
		}
	})
}

func TestUsersOfPodsThatWaitAreReminded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, b := start(t)
		s.NodeChanged(readyNode("n1", "2"))
		s.PodChanged(cpuPod("small", "1"))
		s.PodChanged(cpuPod("large", "3"))
		time.Sleep(remindEvery - time.Second)
		synctest.Wait()
		if n := b.reminded(); n != 0 {
			t.Fatalf("%d reminders before any is due", n)
		}
		time.Sleep(2 * remindEvery)
		synctest.Wait()
		if n := b.reminded(); n != 2 {
			t.Errorf("%d reminders in twice the time, want 2", n)
		}
	})
}

func TestAFailedBindIsTriedAgainAndHoldsNoRoomForGood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, b := start(t)
		b.failures = 2
		s.NodeChanged(readyNode("n1", "2"))
		s.PodChanged(cpuPod("a", "2"))
		time.Sleep(5 * retryAfter)
		synctest.Wait()
		if b.nodes["a"] != "n1" {
			t.Errorf("bound to %q after two failures", b.nodes["a"])
		}
	})
}

func TestOthersPodsAreLeftAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, b := start(t)
		s.NodeChanged(readyNode("n1", "2"))
		mine := cpuPod("mine", "1")
		theirs := cpuPod("theirs", "1")
		theirs.Spec.SchedulerName = "another"
		ending := cpuPod("ending", "1")
		ending.DeletionTimestamp = &metav1.Time{}
		for _, p := range []*corev1.Pod{mine, theirs, ending} {
			s.PodChanged(p)
		}
		synctest.Wait()
		if len(b.nodes) != 1 || b.nodes["mine"] != "n1" {
			t.Errorf("bound %v", b.nodes)
		}
	})
}

func TestRoomIsGivenBackOnce(t *testing.T) {
	st := newState()
	st.setNode(readyNode("n1", "2"))
	p := bound(cpuPod("a", "1"), "n1")
	st.setPod(p)
	st.setPod(p)
	done := p.DeepCopy()
	done.Status.Phase = corev1.PodSucceeded
	if !st.setPod(done) || st.setPod(done) || st.forgetPod("a") {
		t.Error("the end of a pod frees room once")
	}
	if got := st.candidates()[0].Usage.Requested(corev1.ResourceCPU); got != 0 {
		t.Errorf("%dm cpu still counted", got)
	}
}

func TestRoomIsFreedByAResize(t *testing.T) {
	st := newState()
	st.setNode(readyNode("n1", "2"))
	if st.setPod(bound(cpuPod("a", "2"), "n1")) {
		t.Error("a pod's binding frees room")
	}
	if !st.setPod(bound(cpuPod("a", "1"), "n1")) {
		t.Error("a smaller request frees no room")
	}
	if st.setPod(bound(cpuPod("a", "1"), "n1")) || st.setPod(bound(cpuPod("a", "2"), "n1")) {
		t.Error("the same or a larger request frees room")
	}
}

func BenchmarkDecide1000Nodes(b *testing.B) {
	var candidates []Candidate
	for i := range 1000 {
		candidates = append(candidates, Candidate{Node: readyNode(fmt.Sprint("n", i), "4"), Usage: fit.UsageOf([]*corev1.Pod{cpuPod("x", "1")})})
	}
	pod := cpuPod("p", "1")
	for b.Loop() {
		if _, err := Decide(pod, candidates); err != nil {
			b.Fatal(err)
		}
	}
}
