// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podsync

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-run/berth/agent/podtypes"
	"github.com/berth-run/berth/agent/resize"
)

var errFake = errors.New("fake failure")

// node is a fake of everything that a Syncer works with. It notes each call, and
// the call named by fails fails.
type node struct {
	calls  []string
	events []string
	fails  string

	phase       corev1.PodPhase
	phaseAfter  corev1.PodPhase // of the report after the runtime's sync
	reasons     map[string]podtypes.WaitingReason
	verdict     *podtypes.RejectError
	wanted      bool
	secrets     map[string]bool
	syncResult  podtypes.SyncResult
	pullSecrets int
	// mounted: the pod has its volumes, also if Mount fails.
	mounted bool
	grace   time.Duration
	killed  *podtypes.PodStatus
	// reading is what the runtime shows when it is read.
	reading *podtypes.PodStatus
	// held: the pod is not to be read; mixed: it was read while held, or worked on
	// while not held.
	held, mixed bool
	// readAfter is what the reading had to show.
	readAfter time.Time
}

func (n *node) syncer() *Syncer {
	return New(Config{
		Status: fakeStatus{n}, Admission: n, Resizes: &resize.Progress{}, Network: n, Cgroups: fakeCgroups{n}, Dirs: fakeDirs{n}, Volumes: n, Secrets: n,
		Probes:   fakeProbes{n},
		Runtime:  fakeRuntime{n},
		Readings: n,
		Wanted:   func(types.UID) bool { return n.wanted },
		Recorder: n,
		Logger:   slog.New(slog.DiscardHandler),
	})
}

func (n *node) call(name string) error {
	n.calls = append(n.calls, name)
	if n.fails == name {
		return errFake
	}
	return nil
}

func (n *node) expect(t *testing.T, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, n.calls); diff != "" {
		t.Errorf("calls: %s", diff)
	}
}

func (n *node) expectEvents(t *testing.T, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, n.events); diff != "" {
		t.Errorf("events: %s", diff)
	}
}

func (n *node) Record(_ *corev1.Pod, _, _, reason, message string) {
	n.events = append(n.events, reason+": "+message)
}

func (n *node) Verdict(*corev1.Pod) *podtypes.RejectError { return n.verdict }
func (n *node) NetworkReady() error                       { return n.call("network") }

func (n *node) Mount(context.Context, *corev1.Pod) (map[string]podtypes.Volume, error) {
	err := n.call("mount")
	if err != nil && !n.mounted {
		return nil, err
	}
	return map[string]podtypes.Volume{}, err
}
func (n *node) Unmount(context.Context, types.UID) error { return n.call("unmount") }

func (n *node) Secret(_, name string) (*corev1.Secret, error) {
	if !n.secrets[name] {
		return nil, errFake
	}
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name}}, nil
}

func (n *node) Hold(types.UID) (release func()) {
	n.held = true
	return func() { n.held = false }
}

func (n *node) GetNewerThan(_ context.Context, _ types.UID, min time.Time) (*podtypes.PodStatus, error) {
	n.mixed = n.mixed || n.held
	n.readAfter = min
	if err := n.call("read"); err != nil {
		return nil, err
	}
	return n.reading, nil
}

type fakeStatus struct{ *node }

func (n fakeStatus) Syncing(_ *corev1.Pod, _ *podtypes.PodStatus, reasons map[string]podtypes.WaitingReason) corev1.PodStatus {
	_ = n.call("status")
	if reasons == nil {
		return corev1.PodStatus{Phase: n.phase}
	}
	n.reasons = reasons
	return corev1.PodStatus{Phase: n.phaseAfter}
}

func (n fakeStatus) Rejected(*corev1.Pod, *podtypes.PodStatus, *podtypes.RejectError) {
	_ = n.call("rejected")
}

func (n fakeStatus) Terminating(*corev1.Pod, *podtypes.PodStatus, func(*corev1.PodStatus)) {
	_ = n.call("terminating")
}

func (n fakeStatus) Stopped(*corev1.Pod, *podtypes.PodStatus, func(*corev1.PodStatus)) {
	_ = n.call("stopped")
}

func (n fakeStatus) TerminatePod(*corev1.Pod) { _ = n.call("terminated") }

type fakeCgroups struct{ *node }

func (n fakeCgroups) EnsurePod(*corev1.Pod) error                 { return n.call("cgroup") }
func (n fakeCgroups) DestroyPod(context.Context, types.UID) error { return n.call("destroy cgroup") }

type fakeDirs struct{ *node }

func (n fakeDirs) EnsurePod(types.UID) error { return n.call("dirs") }
func (n fakeDirs) RemovePod(types.UID) error { return n.call("remove dirs") }

type fakeProbes struct{ *node }

func (n fakeProbes) SyncPod(*corev1.Pod, *podtypes.PodStatus) { _ = n.call("probe") }
func (n fakeProbes) StopLivenessAndStartup(types.UID)         { _ = n.call("probe readiness only") }
func (n fakeProbes) RemovePod(types.UID)                      { _ = n.call("probe no more") }

type fakeRuntime struct{ *node }

func (n fakeRuntime) SyncPod(_ context.Context, _ *corev1.Pod, _ *podtypes.PodStatus, secrets []corev1.Secret) podtypes.SyncResult {
	_ = n.call("runtime")
	n.mixed = n.mixed || !n.held
	n.pullSecrets = len(secrets)
	return n.syncResult
}

func (n fakeRuntime) KillPod(_ context.Context, _ *corev1.Pod, status *podtypes.PodStatus, grace time.Duration) error {
	n.grace, n.killed = grace, status
	n.mixed = n.mixed || !n.held
	return n.call("kill")
}

func (n fakeRuntime) RemovePod(context.Context, types.UID) error { return n.call("remove") }

func newPod() *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web", UID: "uid-1"}}
}

func deletedPod() *corev1.Pod {
	pod := newPod()
	pod.DeletionTimestamp = &metav1.Time{Time: time.Now()}
	return pod
}

// running has a container that runs, ready a sandbox alone.
func running() *podtypes.PodStatus {
	s := ready()
	s.Containers = []podtypes.ContainerStatus{{Container: podtypes.Container{Name: "a", State: podtypes.ContainerRunning}}}
	return s
}

func ready() *podtypes.PodStatus {
	return &podtypes.PodStatus{Sandboxes: []podtypes.SandboxStatus{{Sandbox: podtypes.Sandbox{Ready: true}}}}
}

func stopped() *podtypes.PodStatus {
	return &podtypes.PodStatus{
		Sandboxes:  []podtypes.SandboxStatus{{}},
		Containers: []podtypes.ContainerStatus{{Container: podtypes.Container{Name: "a", State: podtypes.ContainerExited}}},
	}
}
