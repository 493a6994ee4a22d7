// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package syncloop

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/berth-run/berth/agent/podtypes"
	"github.com/berth-run/berth/agent/resize"
)

// node is a loop and the fakes of all that it needs, as one: what it was told, in
// words, and what it is to answer.
type node struct {
	*Loop
	updates chan podtypes.PodUpdate
	events  chan podtypes.Event
	probes  chan podtypes.ProbeUpdate
	due     chan struct{}

	resizes  resize.Progress
	mu       sync.Mutex
	told     []string
	pods     map[types.UID]*corev1.Pod
	workers  sets.Set[types.UID]
	ended    sets.Set[types.UID] // finished workers
	work     []types.UID
	runtime  []*podtypes.RuntimePod
	ready    bool
	broken   error
	room     int
	cleanErr error
	// noResize is why pods cannot be resized.
	noResize *podtypes.RejectError
	// dispatched is the last pod that the workers were told of.
	dispatched *corev1.Pod
}

func newNode() *node {
	n := &node{
		updates: make(chan podtypes.PodUpdate), events: make(chan podtypes.Event), probes: make(chan podtypes.ProbeUpdate), due: make(chan struct{}),
		pods: map[types.UID]*corev1.Pod{}, workers: sets.New[types.UID](), ended: sets.New[types.UID](),
		ready: true, room: 100,
	}
	n.Loop = New(Config{
		Updates: n.updates, Events: n.events, Probes: n.probes,
		Sources: n, Pods: n, Workers: n, Admitter: n, Resizes: &n.resizes, Runtime: fakeRuntime{n}, RuntimeState: n,
		Statuses: n, Recorder: n, Containers: n,
		Cleaners: []Cleaner{{Name: "volumes", Clean: n.clean}},
		Logger:   slog.New(slog.DiscardHandler),
	})
	return n
}

// bubble runs the loop under a fake clock.
func bubble(t *testing.T, setUp func(n *node), test func(t *testing.T, n *node)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		n := newNode()
		setUp(n)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- n.Run(ctx) }()
		test(t, n)
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// want compares what was told since the last call.
func (n *node) want(t *testing.T, want ...string) {
	t.Helper()
	synctest.Wait()
	n.mu.Lock()
	defer n.mu.Unlock()
	if !slices.Equal(n.told, want) {
		t.Errorf("told %q, want %q", n.told, want)
	}
	n.told = nil
}

func (n *node) say(op podtypes.Op, pods ...*corev1.Pod) {
	n.updates <- podtypes.PodUpdate{Op: op, Source: podtypes.ServerSource, Pods: pods}
}

func (n *node) tell(format string, args ...any) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.told = append(n.told, fmt.Sprintf(format, args...))
}

// set changes what the fakes answer.
func (n *node) set(change func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	change()
}

func (n *node) AllReady() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.ready
}

func (n *node) Err() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.broken
}

func (n *node) SetPod(pod *corev1.Pod)    { n.set(func() { n.pods[pod.UID] = pod }) }
func (n *node) RemovePod(pod *corev1.Pod) { n.set(func() { delete(n.pods, pod.UID) }) }

func (n *node) Pods() []*corev1.Pod {
	n.mu.Lock()
	defer n.mu.Unlock()
	var pods []*corev1.Pod
	for _, pod := range n.pods {
		pods = append(pods, pod)
	}
	return pods
}

func (n *node) PodByUID(uid types.UID) (*corev1.Pod, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	pod, ok := n.pods[uid]
	return pod, ok
}

func (n *node) Mirror(*corev1.Pod) *corev1.Pod { return nil }

func (n *node) DispatchPod(kind podtypes.SyncType, pod, _ *corev1.Pod) {
	n.set(func() { n.workers.Insert(pod.UID); n.dispatched = pod })
	if why := n.Verdict(pod); why != nil {
		n.tell("%s %s %s", kind, pod.UID, why.Reason)
		return
	}
	n.tell("%s %s", kind, pod.UID)
}

func (n *node) KillOrphan(pod *podtypes.RuntimePod) {
	n.tell("orphan %s", pod.UID)
	n.set(func() { n.workers.Insert(pod.UID) })
}

func (n *node) Resync(uid types.UID) { n.tell("resync %s", uid) }
func (n *node) Due() <-chan struct{} { return n.due }

func (n *node) GetWork() []types.UID {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.work
}

func (n *node) SyncKnownPods([]*corev1.Pod) sets.Set[types.UID] {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.workers.Clone()
}

func (n *node) CouldHaveRunningContainers(uid types.UID) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.workers.Has(uid) && !n.ended.Has(uid)
}

func (n *node) Admit(_ *corev1.Pod, admitted []*corev1.Pod) *podtypes.RejectError {
	if len(admitted) >= n.room {
		return &podtypes.RejectError{Reason: "OutOfcpu"}
	}
	return nil
}

func (n *node) Resize(*corev1.Pod, []*corev1.Pod) *podtypes.RejectError {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.noResize
}

func (n *node) Record(pod *corev1.Pod, _, _, reason, _ string) {
	n.tell("event %s %s", pod.UID, reason)
}

func (n *node) Probed(pod *corev1.Pod)    { n.tell("probed %s", pod.UID) }
func (n *node) Reconcile(pod *corev1.Pod) { n.tell("reconcile %s", pod.UID) }

func (n *node) CleanUpContainers(_ context.Context, pod *corev1.Pod, status *podtypes.PodStatus) error {
	n.tell("containers %s %s", pod.UID, status.UID)
	return nil
}

func (n *node) clean(_ context.Context, keep sets.Set[types.UID]) error {
	n.tell("clean, keep %v", sets.List(keep))
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.cleanErr
}

type fakeRuntime struct{ n *node }

func (r fakeRuntime) Pods() []*podtypes.RuntimePod {
	r.n.mu.Lock()
	defer r.n.mu.Unlock()
	return r.n.runtime
}

func (r fakeRuntime) GetNewerThan(_ context.Context, uid types.UID, min time.Time) (*podtypes.PodStatus, error) {
	if !min.IsZero() {
		return nil, errors.New("the loop is not to wait for a reading")
	}
	return &podtypes.PodStatus{UID: uid}, nil
}

// newPod makes a pod of age, which the server knows since then.
func newPod(name string, uid types.UID, age time.Duration) *corev1.Pod {
	created := metav1.NewTime(time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC).Add(-age))
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: "default", Name: name, UID: uid, CreationTimestamp: created,
	}}
}

func runtimePod(name string, uid types.UID) *podtypes.RuntimePod {
	return &podtypes.RuntimePod{
		UID: uid, Namespace: "default", Name: name,
		Sandboxes: []podtypes.Sandbox{{ID: "s-" + string(uid), Ready: true}},
	}
}
