// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"log/slog"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/berth-run/berth/agent/podtypes"
)

func newManager() *Manager { return NewManager(slog.New(slog.DiscardHandler)) }

func podOf(uid string) *corev1.Pod {
	pod := newPod(always, "a")
	pod.UID, pod.Name = types.UID(uid), "pod-"+uid
	return pod
}

func phase(p corev1.PodPhase) corev1.PodStatus { return corev1.PodStatus{Phase: p} }

// handedOut lists the reports as name=phase.
func handedOut(reports []podtypes.StatusReport) []string {
	var out []string
	for _, r := range reports {
		s := r.Name + "=" + string(r.Status.Phase)
		if r.Terminated {
			s += " terminated"
		}
		out = append(out, s)
	}
	return out
}

func expect(t *testing.T, m *Manager, want ...string) []podtypes.StatusReport {
	t.Helper()
	reports := m.Dirty()
	if diff := cmp.Diff(want, handedOut(reports)); diff != "" {
		t.Errorf("handed out: %s", diff)
	}
	return reports
}

func hasChanged(m *Manager) bool {
	select {
	case <-m.Changed():
		return true
	default:
		return false
	}
}

func TestOnlyTheNewestStatusIsHandedOut(t *testing.T) {
	m := newManager()
	a, b := podOf("a"), podOf("b")
	m.SetPodStatus(a, phase(pending))
	m.SetPodStatus(b, phase(pending))
	m.SetPodStatus(a, phase(isRunning))
	if !hasChanged(m) || hasChanged(m) {
		t.Error("many changes are one token")
	}
	expect(t, m, "pod-b=Pending", "pod-a=Running")
	expect(t, m)
}

func TestAnEqualStatusIsNotHandedOutAgain(t *testing.T) {
	m := newManager()
	a := podOf("a")
	a.Status = phase(pending)
	m.SetPodStatus(a, phase(pending))
	expect(t, m, "pod-a=Pending") // the first says that the node has the pod
	m.SetPodStatus(a, phase(pending))
	expect(t, m)
}

func TestVersionsRise(t *testing.T) {
	m := newManager()
	a := podOf("a")
	var last uint64
	for _, p := range []corev1.PodPhase{pending, isRunning, failed} {
		m.SetPodStatus(a, phase(p))
		v := m.Dirty()[0].Version
		if v <= last {
			t.Errorf("version %d after %d", v, last)
		}
		last = v
	}
}

func TestNothingIsLostOnReconnect(t *testing.T) {
	m := newManager()
	m.SetPodStatus(podOf("a"), phase(pending))
	m.SetPodStatus(podOf("b"), phase(pending))
	r := expect(t, m, "pod-a=Pending", "pod-b=Pending")
	m.Ack(r[0].UID, r[0].Version)
	hasChanged(m)
	m.Resend()
	if !hasChanged(m) {
		t.Error("a new session is not told")
	}
	expect(t, m, "pod-a=Pending", "pod-b=Pending")
}

func TestAnAckOfAnOldVersionLeavesTheNewer(t *testing.T) {
	m := newManager()
	a := podOf("a")
	m.SetPodStatus(a, phase(pending))
	old := m.Dirty()[0]
	m.SetPodStatus(a, phase(isRunning))
	m.RemoveOrphans(nil)
	m.Ack(old.UID, old.Version)
	if _, ok := m.PodStatus("a"); !ok {
		t.Fatal("forgotten before the server had its last status")
	}
	newest := expect(t, m, "pod-a=Running")[0]
	m.Ack(newest.UID, newest.Version)
	if _, ok := m.PodStatus("a"); ok {
		t.Error("kept although the server has all and nobody wants it")
	}
	m.Resend()
	expect(t, m)
}

func TestRemoveOrphansKeepsWhatIsWanted(t *testing.T) {
	m := newManager()
	for _, uid := range []string{"a", "b"} {
		m.SetPodStatus(podOf(uid), phase(pending))
	}
	for _, r := range m.Dirty() {
		m.Ack(r.UID, r.Version)
	}
	m.RemoveOrphans(sets.New[types.UID]("a"))
	if _, ok := m.PodStatus("a"); !ok {
		t.Error("a wanted pod is forgotten")
	}
	if _, ok := m.PodStatus("b"); ok {
		t.Error("an orphan that the server knows all of is kept")
	}
}

func TestAPodThatComesBackIsNoOrphan(t *testing.T) {
	m := newManager()
	a := podOf("a")
	m.SetPodStatus(a, phase(pending))
	m.RemoveOrphans(nil)
	m.SetPodStatus(a, phase(isRunning))
	r := m.Dirty()[0]
	m.Ack(r.UID, r.Version)
	if _, ok := m.PodStatus("a"); !ok {
		t.Error("forgotten")
	}
}

func TestTerminatePod(t *testing.T) {
	m := newManager()
	pod := newPod(always, "init-a", "init-b", "a", "b")
	m.SetPodStatus(pod, generate(pod, runtimeStatus(exited("init-a", 0, 0), running("init-b", 0))))
	m.Dirty()
	m.TerminatePod(pod)
	r := expect(t, m, "web=Failed terminated")[0]
	for _, s := range append(r.Status.InitContainerStatuses, r.Status.ContainerStatuses...) {
		if s.State.Terminated == nil {
			t.Errorf("container %s is shown as %+v", s.Name, s.State)
		}
	}
	if s := show(r.Status.InitContainerStatuses[0].State); s != "terminated Completed 0" {
		t.Errorf("what was known is lost: %s", s)
	}
	if s := showCondition(&r.Status, corev1.PodReady); s != "False PodFailed" {
		t.Errorf("Ready is %s", s)
	}
	m.TerminatePod(pod)
	expect(t, m, "web=Failed terminated")
}

func TestTerminatePodKeepsTheEndThatWasReported(t *testing.T) {
	m := newManager()
	pod := newPod(never, "a")
	in := input(pod, runtimeStatus(exited("a", 0, 0)))
	in.Ended = true
	final := Generate(in)
	m.SetPodStatus(pod, final)
	m.TerminatePod(pod)
	r := expect(t, m, "web=Succeeded terminated")[0]
	if diff := cmp.Diff(final.ContainerStatuses, r.Status.ContainerStatuses); diff != "" {
		t.Error(diff)
	}
	if s := showCondition(&r.Status, corev1.PodReady); s != "False PodCompleted" {
		t.Errorf("Ready is %s", s)
	}
}

func TestB013ReconcileOfATerminatedPodThatIsDeleted(t *testing.T) {
	m := newManager()
	pod := newPod(never, "a")
	m.TerminatePod(pod)
	r := m.Dirty()[0]
	m.Ack(r.UID, r.Version)
	pod.Status = r.Status
	m.Reconcile(pod)
	expect(t, m)
	pod.DeletionTimestamp = &metav1.Time{Time: t1}
	m.Reconcile(pod)
	expect(t, m, "web=Failed terminated")
}

func TestReconcile(t *testing.T) {
	m := newManager()
	a := podOf("a")
	m.SetPodStatus(a, phase(isRunning))
	m.Reconcile(a) // on its way already
	r := expect(t, m, "pod-a=Running")[0]
	m.Reconcile(a)
	expect(t, m)
	m.Ack(r.UID, r.Version)
	m.Reconcile(a)
	expect(t, m, "pod-a=Running")
}

// The server's status, seen first after a start of the agent, is continued.
func TestTheServersStatusSeedsTheFirst(t *testing.T) {
	pod := newPod(always, "a", "b")
	pod.Status = generate(pod, runtimeStatus(running("a", 4), exited("a", 3, 1), running("b", 2)))
	pod.Status.StartTime = &metav1.Time{Time: t0}
	for i := range pod.Status.Conditions {
		pod.Status.Conditions[i].LastTransitionTime = metav1.NewTime(t0)
	}
	m := newManager()
	r := &Reporter{Manager: m, HostIPs: func() []string { return []string{"192.0.2.1"} }, RuntimeName: "containerd"}
	got := r.Syncing(pod, runtimeStatus(running("a", 4), running("b", 2)), nil)
	if diff := cmp.Diff(pod.Status, got); diff != "" {
		t.Error(diff)
	}
}

func TestSetPodStatusGuardsWhatMayNotHappen(t *testing.T) {
	m := newManager()
	pod := newPod(always, "a")
	m.SetPodStatus(pod, reported("containerd://a.5", 5, ended("containerd://a.5", "Error", 1), corev1.ContainerState{}))
	worse := reported("containerd://a.0", 0, runs(), corev1.ContainerState{})
	worse.Phase = failed
	m.SetPodStatus(pod, worse)
	got, _ := m.PodStatus(pod.UID)
	if got.Phase != isRunning || got.ContainerStatuses[0].RestartCount != 5 {
		t.Errorf("phase %s, restarts %d", got.Phase, got.ContainerStatuses[0].RestartCount)
	}
}

func TestReporterHoldsThePhaseUntilStopped(t *testing.T) {
	m := newManager()
	r := &Reporter{Manager: m, HostIPs: func() []string { return nil }, RuntimeName: "containerd"}
	pod := newPod(always, "a")
	evict := func(s *corev1.PodStatus) { s.Phase, s.Reason, s.Message = failed, "Evicted", "disk" }

	r.Syncing(pod, runtimeStatus(running("a", 0)), nil)
	// Even a reading that shows nothing running is no proof of the end yet.
	r.Terminating(pod, runtimeStatus(exited("a", 0, 0)), evict)
	expect(t, m, "web=Running")
	r.Stopped(pod, runtimeStatus(exited("a", 0, 0)), evict)
	expect(t, m, "web=Failed")
	got, _ := m.PodStatus(pod.UID)
	if got.Reason != "Evicted" || got.Message != "disk" {
		t.Errorf("reason %q %q", got.Reason, got.Message)
	}
}

func TestReporterRejects(t *testing.T) {
	m := newManager()
	r := &Reporter{Manager: m, HostIPs: func() []string { return nil }, RuntimeName: "containerd"}
	pod := newPod(always, "a")
	r.Rejected(pod, nil, &podtypes.RejectError{Reason: "OutOfcpu", Message: "too much"})
	report := expect(t, m, "web=Failed")[0]
	if report.Status.Reason != "OutOfcpu" || report.Status.Message != "too much" {
		t.Errorf("reason %q %q", report.Status.Reason, report.Status.Message)
	}
}

func TestManagerIsSafeForConcurrentUse(t *testing.T) {
	m := newManager()
	done := make(chan struct{})
	for i := range 4 {
		go func() {
			defer func() { done <- struct{}{} }()
			for j := range 200 {
				pod := podOf(string(rune('a' + (i+j)%7)))
				m.SetPodStatus(pod, corev1.PodStatus{Phase: isRunning, Message: time.Duration(j).String()})
				for _, r := range m.Dirty() {
					m.Ack(r.UID, r.Version)
				}
				m.RemoveOrphans(sets.New[types.UID]("a"))
				if j%50 == 0 {
					m.Resend()
				}
			}
		}()
	}
	for range 4 {
		<-done
	}
}
