// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package scheduler binds pods that name no node to nodes that take them. It
// learns of pods and nodes by calls, decides by a pure function, and writes
// through a Binder, as any other scheduler could through the API.
package scheduler

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-run/berth/api"
)

// Binder carries out decisions. Its methods are called concurrently for
// different pods.
type Binder interface {
	// Bind binds the pod to the node. It fails if the pod has changed hands.
	Bind(ctx context.Context, pod *corev1.Pod, node string) error
	// Unschedulable tells the pod's users why no node takes it.
	Unschedulable(ctx context.Context, pod *corev1.Pod, v Verdict) error
}

// Verdict is that no node takes a pod.
type Verdict struct {
	// Message says why.
	Message string
	// Remind asks to tell it also if it has been told before.
	Remind bool
}

// writers bounds the binds under way: enough to share the store's commits.
const writers = 16

// retryAfter is how long a pod waits whose binding failed.
const retryAfter = time.Second

// remindEvery is how often the pods that wait are all tried again, and their users
// reminded: the event that told them expires.
const remindEvery = 30 * time.Minute

// Scheduler places pods. The Changed, Removed and Retain methods tell it
// of the world; Run acts on it.
type Scheduler struct {
	binder  Binder
	log     *slog.Logger
	metrics metrics

	mu sync.Mutex
	// state is what the scheduler knows, its own decisions under way included.
	state state
	// queue holds pods to place, parked those that no node takes now.
	queue  map[types.UID]*corev1.Pod
	parked map[types.UID]*corev1.Pod
	wake   chan struct{}
}

// New returns a scheduler that writes through binder. Its metrics go to r, unless
// that is nil.
func New(binder Binder, log *slog.Logger, r prometheus.Registerer) *Scheduler {
	s := &Scheduler{
		binder:  binder,
		log:     log,
		metrics: newMetrics(r),
		state:   newState(),
		queue:   map[types.UID]*corev1.Pod{},
		parked:  map[types.UID]*corev1.Pod{},
		wake:    make(chan struct{}, 1),
	}
	s.showPending(r)
	return s
}

// PodRemoved tells that a pod is gone. It never blocks.
func (s *Scheduler) PodRemoved(uid types.UID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.remove(uid)
}

func (s *Scheduler) remove(uid types.UID) {
	delete(s.queue, uid)
	delete(s.parked, uid)
	if s.state.forgetPod(uid) {
		s.unpark()
	}
}

// RetainPods tells that no pods exist but these. It never blocks.
func (s *Scheduler) RetainPods(uids map[types.UID]struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for uid := range s.state.pods {
		if _, exists := uids[uid]; !exists {
			s.remove(uid)
		}
	}
}

// PodChanged tells of a new pod or a pod's change. It never blocks.
func (s *Scheduler) PodChanged(now *corev1.Pod) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if freed := s.state.setPod(now); freed {
		s.unpark()
	}
	switch {
	case !wantsPlace(now):
		delete(s.queue, now.UID)
		delete(s.parked, now.UID)
	case s.parked[now.UID] != nil && sameDemand(s.parked[now.UID], now):
		s.parked[now.UID] = now
	case !s.state.placed(now.UID):
		delete(s.parked, now.UID)
		s.enqueue(now)
	}
}

// NodeChanged tells of a new node or a node's change. It never blocks.
func (s *Scheduler) NodeChanged(now *corev1.Node) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state.setNode(now)
	s.unpark()
}

// NodeRemoved tells that a node is gone. It never blocks.
func (s *Scheduler) NodeRemoved(uid types.UID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state.retainNodes(func(n *corev1.Node) bool { return n.UID != uid })
}

// RetainNodes tells that no nodes exist but these. It never blocks.
func (s *Scheduler) RetainNodes(uids map[types.UID]struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state.retainNodes(func(n *corev1.Node) bool {
		_, exists := uids[n.UID]
		return exists
	})
}

// wantsPlace tells whether the pod is this scheduler's to place.
func wantsPlace(pod *corev1.Pod) bool {
	return pod.Spec.NodeName == "" && pod.DeletionTimestamp == nil && !api.IsTerminal(pod) &&
		(pod.Spec.SchedulerName == "" || pod.Spec.SchedulerName == corev1.DefaultSchedulerName)
}

// sameDemand tells whether a change of the pod leaves the verdict as it was:
// what the scheduler itself writes of a parked pod does not wake it again.
func sameDemand(old, now *corev1.Pod) bool {
	return old.Generation == now.Generation && old.UID == now.UID
}

func (s *Scheduler) enqueue(pod *corev1.Pod) {
	s.queue[pod.UID] = pod
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

func (s *Scheduler) unpark() {
	for uid, pod := range s.parked {
		delete(s.parked, uid)
		s.enqueue(pod)
	}
}

// Run places pods until ctx ends, and returns when no write is under way.
func (s *Scheduler) Run(ctx context.Context) error {
	var writes sync.WaitGroup
	defer writes.Wait()
	slots := make(chan struct{}, writers)
	reminder := time.NewTicker(remindEvery)
	defer reminder.Stop()
	for {
		var decisions []decision
		select {
		case <-ctx.Done():
			return nil
		case <-s.wake:
			decisions = s.decideAll()
		case <-reminder.C:
			decisions = s.decideAgain()
		}
		for _, d := range decisions {
			select {
			case <-ctx.Done():
				return nil
			case slots <- struct{}{}:
			}
			writes.Go(func() {
				defer func() { <-slots }()
				s.carryOut(ctx, d)
			})
		}
	}
}

// decision is the verdict on one pod: a node, or why there is none.
type decision struct {
	pod    *corev1.Pod
	node   string
	why    error
	remind bool
	began  time.Time
}

// decideAgain is decideAll with the pods that wait.
func (s *Scheduler) decideAgain() []decision {
	s.mu.Lock()
	s.unpark()
	s.mu.Unlock()
	decisions := s.decideAll()
	for i := range decisions {
		decisions[i].remind = true
	}
	return decisions
}

// decideAll empties the queue, oldest pod first. A pod that was placed counts on
// its node from then on.
func (s *Scheduler) decideAll() []decision {
	s.mu.Lock()
	defer s.mu.Unlock()
	pods := make([]*corev1.Pod, 0, len(s.queue))
	for _, pod := range s.queue {
		pods = append(pods, pod)
	}
	clear(s.queue)
	slices.SortFunc(pods, byAge)

	out := make([]decision, 0, len(pods))
	candidates := s.state.candidates()
	for _, pod := range pods {
		began := time.Now()
		node, err := Decide(pod, candidates)
		if err != nil {
			s.parked[pod.UID] = pod
		} else {
			s.state.assume(pod, node)
		}
		out = append(out, decision{pod: pod, node: node, why: err, began: began})
	}
	return out
}

func byAge(a, b *corev1.Pod) int {
	if c := a.CreationTimestamp.Compare(b.CreationTimestamp.Time); c != 0 {
		return c
	}
	if a.UID < b.UID {
		return -1
	}
	return 1
}

func (s *Scheduler) carryOut(ctx context.Context, d decision) {
	if d.why != nil {
		s.metrics.observe(unschedulable, time.Since(d.began))
		verdict := Verdict{Message: d.why.Error(), Remind: d.remind}
		if err := s.binder.Unschedulable(ctx, d.pod, verdict); err != nil && ctx.Err() == nil {
			s.log.Warn("cannot tell why a pod is not placed", "pod", api.FullName(d.pod), "err", err)
		}
		return
	}
	err := s.binder.Bind(ctx, d.pod, d.node)
	if err == nil {
		s.metrics.observe(scheduled, time.Since(d.began))
		return
	}
	if ctx.Err() != nil {
		return
	}
	s.metrics.observe(failed, time.Since(d.began))
	s.log.Warn("cannot bind a pod", "pod", api.FullName(d.pod), "node", d.node, "err", err)
	s.retryLater(ctx, d.pod)
}

// retryLater takes back what was assumed of the pod, and queues it again unless
// something newer has been heard of it.
func (s *Scheduler) retryLater(ctx context.Context, pod *corev1.Pod) {
	timer := time.NewTimer(retryAfter)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if current, ok := s.state.unassume(pod.UID); ok && wantsPlace(current) {
		s.enqueue(current)
	}
}
