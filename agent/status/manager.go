// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"log/slog"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/berth-run/berth/agent/podtypes"
	"github.com/berth-run/berth/api"
)

// Manager keeps the newest status of each pod until the server has acknowledged
// it. Writers never wait for the server: a status that was not handed out yet is
// replaced by the next one. It is safe for concurrent use and has no goroutines.
//
//	SetPodStatus, TerminatePod ──► newest per UID ──► Changed, Dirty ──► session
//	                                    ▲                                  │
//	                                    └────── Ack, Resend ◄──────────────┘
type Manager struct {
	logger  *slog.Logger
	changed chan struct{}

	mu      sync.Mutex
	entries map[types.UID]*entry
	// version is that of the newest report of any pod; ordering all reports by it
	// sends the oldest change first.
	version uint64
}

// entry is what is known and what has been told of one pod.
type entry struct {
	namespace, name string
	status          corev1.PodStatus
	terminated      bool
	// version of the newest report, of the one handed out last in this session and
	// of the one acknowledged last in this session.
	version, sent, acked uint64
	// orphan: nobody here wants the entry any more, only the server is to hear it.
	orphan bool
}

// NewManager returns an empty Manager.
func NewManager(logger *slog.Logger) *Manager {
	return &Manager{
		logger:  logger,
		changed: make(chan struct{}, 1),
		entries: map[types.UID]*entry{},
	}
}

// SetPodStatus makes status the newest one of the pod. The first status of a
// UID continues pod.Status, which is what the server holds. A status equal to
// the one before is not reported again. It does not keep or change its arguments.
func (m *Manager) SetPodStatus(pod *corev1.Pod, status corev1.PodStatus) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.replace(pod, m.entry(pod), status.DeepCopy(), stamp(time.Now()))
}

// replace makes next the newest status of the pod, and its own.
func (m *Manager) replace(pod *corev1.Pod, e *entry, next *corev1.PodStatus, now metav1.Time) {
	settle(&e.status, next, now)
	if e.version > 0 && equality.Semantic.DeepEqual(&e.status, next) {
		return
	}
	if e.status.Phase != next.Phase {
		m.logger.Info("pod phase", "pod", api.FullName(pod), "uid", pod.UID, "phase", next.Phase, "reason", next.Reason)
	}
	e.status = *next
	m.report(e)
}

// TerminatePod reports that nothing of the pod runs and that all it held on the
// node is released, so that the server may remove its record. Called again, it
// reports again.
func (m *Manager) TerminatePod(pod *corev1.Pod) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e := m.entry(pod)
	next := Terminated(pod, &e.status)
	settle(&e.status, next, stamp(time.Now()))
	e.status, e.terminated = *next, true
	m.report(e)
}

// PodStatus returns the newest status of the pod and whether there is one.
func (m *Manager) PodStatus(uid types.UID) (corev1.PodStatus, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e, ok := m.entries[uid]
	if !ok {
		return corev1.PodStatus{}, false
	}
	return *e.status.DeepCopy(), true
}

// Reconcile takes the conditions that are not the node's from the server's status,
// which pod carries. It reports the newest status again if that is another one, or if the server waits for the end of a pod that
// has been reported as terminated.
func (m *Manager) Reconcile(pod *corev1.Pod) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e, ok := m.entries[pod.UID]
	if !ok {
		return
	}
	adoptConditions(&e.status, pod.Status.Conditions)
	if e.acked < e.version {
		return
	}
	awaited := e.terminated && pod.DeletionTimestamp != nil
	if awaited || !equality.Semantic.DeepEqual(&e.status, &pod.Status) {
		m.report(e)
	}
}

// RemoveOrphans forgets every pod that keep does not hold, once the server has
// acknowledged its newest status.
func (m *Manager) RemoveOrphans(keep sets.Set[types.UID]) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for uid, e := range m.entries {
		e.orphan = !keep.Has(uid)
		m.forget(uid, e)
	}
}

// Changed delivers when Dirty may have something to return.
func (m *Manager) Changed() <-chan struct{} { return m.changed }

// Dirty returns the newest status of each pod that was not handed out yet in
// this session, oldest change first.
func (m *Manager) Dirty() []podtypes.StatusReport {
	m.mu.Lock()
	defer m.mu.Unlock()
	var reports []podtypes.StatusReport
	for uid, e := range m.entries {
		if e.version > e.sent {
			e.sent = e.version
			reports = append(reports, e.reportOf(uid))
		}
	}
	slices.SortFunc(reports, func(a, b podtypes.StatusReport) int {
		if a.Version < b.Version {
			return -1
		}
		return 1
	})
	return reports
}

// Ack notes that the server has the pod's status up to version.
func (m *Manager) Ack(uid types.UID, version uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if e, ok := m.entries[uid]; ok {
		e.acked = max(e.acked, version)
		m.forget(uid, e)
	}
}

// Resend begins a new session: every pod's newest status is handed out again,
// for what the former session handed out may be lost.
func (m *Manager) Resend() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, e := range m.entries {
		e.sent, e.acked = 0, 0
	}
	m.signal()
}

// entry returns the pod's entry, made from the server's status if there is none.
func (m *Manager) entry(pod *corev1.Pod) *entry {
	e, ok := m.entries[pod.UID]
	if !ok {
		e = &entry{namespace: pod.Namespace, name: pod.Name, status: *pod.Status.DeepCopy()}
		m.entries[pod.UID] = e
	}
	e.orphan = false
	return e
}

func (m *Manager) report(e *entry) {
	m.version++
	e.version = m.version
	m.signal()
}

func (m *Manager) signal() {
	select {
	case m.changed <- struct{}{}:
	default:
	}
}

func (m *Manager) forget(uid types.UID, e *entry) {
	if e.orphan && e.acked >= e.version {
		delete(m.entries, uid)
	}
}

func (e *entry) reportOf(uid types.UID) podtypes.StatusReport {
	return podtypes.StatusReport{
		Namespace:  e.namespace,
		Name:       e.name,
		UID:        uid,
		Version:    e.version,
		Status:     *e.status.DeepCopy(),
		Terminated: e.terminated,
	}
}
