// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podworkers

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-run/berth/agent/podtypes"
)

// call is one call of the fake syncer.
type call struct {
	step   string
	uid    types.UID
	grace  int64
	at     time.Duration
	status corev1.PodStatus // after mutate
}

// fakeSyncer notes its calls, checks that none of a UID overlap, and does what
// the test asks.
type fakeSyncer struct {
	began time.Time

	mu      sync.Mutex
	calls   []call
	running map[types.UID]bool
	faults  []string

	// Each may be nil, for success at once.
	syncPod            func(ctx context.Context, kind podtypes.SyncType, pod *corev1.Pod) (podtypes.SyncOutcome, error)
	terminating        func(ctx context.Context, pod *corev1.Pod, grace int64) error
	terminatingRuntime func(ctx context.Context, pod *podtypes.RuntimePod) error
	terminated         func(ctx context.Context, pod *corev1.Pod) error
}

func (f *fakeSyncer) enter(c call) (leave func()) {
	f.note(c)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.running[c.uid] {
		f.faults = append(f.faults, "two steps of "+string(c.uid)+" overlap")
	}
	f.running[c.uid] = true
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.running[c.uid] = false
	}
}

func (f *fakeSyncer) note(c call) {
	f.mu.Lock()
	defer f.mu.Unlock()
	c.at = time.Since(f.began)
	f.calls = append(f.calls, c)
}

func (f *fakeSyncer) SyncPod(ctx context.Context, kind podtypes.SyncType, pod, _ *corev1.Pod, _ *podtypes.PodStatus) (podtypes.SyncOutcome, error) {
	defer f.enter(call{step: "sync:" + kind.String(), uid: pod.UID})()
	if f.syncPod == nil {
		return podtypes.SyncOutcome{}, nil
	}
	return f.syncPod(ctx, kind, pod)
}

func (f *fakeSyncer) SyncTerminatingPod(ctx context.Context, pod *corev1.Pod, _ *podtypes.PodStatus, grace *int64, mutate func(*corev1.PodStatus)) error {
	c := call{step: "terminating", uid: pod.UID, grace: *grace}
	if mutate != nil {
		mutate(&c.status)
	}
	defer f.enter(c)()
	if f.terminating == nil {
		return nil
	}
	return f.terminating(ctx, pod, *grace)
}

func (f *fakeSyncer) SyncTerminatingRuntimePod(ctx context.Context, pod *podtypes.RuntimePod) error {
	defer f.enter(call{step: "orphan", uid: pod.UID})()
	if f.terminatingRuntime == nil {
		return nil
	}
	return f.terminatingRuntime(ctx, pod)
}

func (f *fakeSyncer) SyncTerminatedPod(ctx context.Context, pod *corev1.Pod, _ *podtypes.PodStatus) error {
	defer f.enter(call{step: "terminated", uid: pod.UID})()
	if f.terminated == nil {
		return nil
	}
	return f.terminated(ctx, pod)
}

// steps returns what was called for a UID, such as "sync:create".
func (f *fakeSyncer) steps(uid types.UID) []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	steps := []string{}
	for _, c := range f.calls {
		if c.uid == uid {
			steps = append(steps, c.step)
		}
	}
	return steps
}

// last returns the newest call of a step.
func (f *fakeSyncer) last(t *testing.T, uid types.UID, step string) call {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := len(f.calls) - 1; i >= 0; i-- {
		if f.calls[i].uid == uid && f.calls[i].step == step {
			return f.calls[i]
		}
	}
	t.Fatalf("no call of %s for %s", step, uid)
	return call{}
}

// fakeCache has a reading of every pod at any time, and notes how new it had to be.
type fakeCache struct {
	mu  sync.Mutex
	min []time.Time
}

func (c *fakeCache) GetNewerThan(ctx context.Context, uid types.UID, min time.Time) (*podtypes.PodStatus, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.min = append(c.min, min)
	return &podtypes.PodStatus{UID: uid}, ctx.Err()
}

type fakeStatuses struct {
	mu sync.Mutex
	of map[types.UID]corev1.PodStatus
}

func (s *fakeStatuses) PodStatus(uid types.UID) (corev1.PodStatus, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	status, ok := s.of[uid]
	return status, ok
}

func (s *fakeStatuses) set(uid types.UID, status corev1.PodStatus) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.of[uid] = status
}

type fakeRecorder struct {
	mu     sync.Mutex
	events []string
}

func (r *fakeRecorder) Record(pod *corev1.Pod, _, _, reason, _ string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, fmt.Sprintf("%s %s", pod.Name, reason))
}

// node is a PodWorkers with its fakes. Its pods are resynced when they are due,
// as the sync loop does.
type node struct {
	*PodWorkers
	syncer   *fakeSyncer
	cache    *fakeCache
	statuses *fakeStatuses
	recorder *fakeRecorder
	stop     func()
}

// newNode starts workers that end, and are waited for, with the test. Only for use
// in a synctest bubble.
func newNode(t *testing.T) *node {
	n := &node{
		syncer:   &fakeSyncer{began: time.Now(), running: map[types.UID]bool{}},
		cache:    &fakeCache{},
		statuses: &fakeStatuses{of: map[types.UID]corev1.PodStatus{}},
		recorder: &fakeRecorder{},
	}
	n.PodWorkers = New(Config{
		Syncer: n.syncer, Cache: n.cache, Statuses: n.statuses, Recorder: n.recorder,
		Logger: slog.New(slog.DiscardHandler),
	})
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() { _ = n.Run(ctx) })
	wg.Go(func() {
		for {
			select {
			case <-ctx.Done():
				return
			case <-n.Due():
				for _, uid := range n.GetWork() {
					n.Resync(uid)
				}
			}
		}
	})
	n.stop = func() { cancel(); wg.Wait() }
	t.Cleanup(func() {
		n.stop()
		for _, fault := range n.syncer.faults {
			t.Error(fault)
		}
	})
	return n
}

// bubble runs a test of a node under a fake clock.
func bubble(t *testing.T, test func(t *testing.T, n *node)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { test(t, newNode(t)) })
}

func (n *node) create(pod *corev1.Pod) { n.DispatchPod(podtypes.SyncCreate, pod, nil) }
func (n *node) update(pod *corev1.Pod) { n.DispatchPod(podtypes.SyncUpdate, pod, nil) }
func (n *node) remove(pod *corev1.Pod) { n.DispatchPod(podtypes.SyncKill, pod, nil) }

func newPod(name string, uid types.UID) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: uid}}
}

// deleted returns the pod as it looks after a delete with that grace.
func deleted(pod *corev1.Pod, grace int64) *corev1.Pod {
	pod = pod.DeepCopy()
	pod.DeletionTimestamp = &metav1.Time{Time: time.Now().Add(time.Duration(grace) * time.Second)}
	pod.DeletionGracePeriodSeconds = &grace
	return pod
}

// untilDone blocks a step until its context ends, or for d.
func untilDone(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
