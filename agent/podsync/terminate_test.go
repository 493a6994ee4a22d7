// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podsync

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-run/berth/agent/podtypes"
)

func (n *node) terminating(t *testing.T, status *podtypes.PodStatus, grace *int64) error {
	t.Helper()
	return n.syncer().SyncTerminatingPod(t.Context(), deletedPod(), status, grace, nil)
}

func TestSyncTerminatingPod(t *testing.T) {
	n := &node{reading: stopped()}
	grace := int64(7)
	if err := n.terminating(t, running(), &grace); err != nil {
		t.Fatal(err)
	}
	n.expect(t, "terminating", "probe readiness only", "kill", "read", "probe no more", "stopped")
	if n.grace != 7*time.Second {
		t.Errorf("grace %s", n.grace)
	}
	if n.mixed || n.held {
		t.Error("the pod was read while it was being stopped, or is still held")
	}
}

func TestWithoutAGraceThePodsOwnHolds(t *testing.T) {
	n := &node{reading: stopped()}
	if err := n.terminating(t, running(), nil); err != nil {
		t.Fatal(err)
	}
	if n.grace != corev1.DefaultTerminationGracePeriodSeconds*time.Second {
		t.Errorf("grace %s", n.grace)
	}
}

func TestB011APodOfWhichNothingEverRanEnds(t *testing.T) {
	n := &node{reading: &podtypes.PodStatus{}}
	if err := n.terminating(t, &podtypes.PodStatus{}, nil); err != nil {
		t.Fatal(err)
	}
	n.expect(t, "terminating", "probe readiness only", "kill", "read", "probe no more", "stopped")
}

func TestB012WhatTheRuntimeNoLongerHasCountsAsStopped(t *testing.T) {
	n := &node{reading: &podtypes.PodStatus{UID: "uid-1"}}
	if err := n.terminating(t, running(), nil); err != nil {
		t.Fatal(err)
	}
	n.expect(t, "terminating", "probe readiness only", "kill", "read", "probe no more", "stopped")
}

func TestB022TheEndIsReportedOnlyWhenNothingRuns(t *testing.T) {
	for name, n := range map[string]*node{
		"the stop fails":         {fails: "kill"},
		"the reading fails":      {fails: "read"},
		"a container runs":       {reading: running()},
		"a sandbox still stands": {reading: ready()},
	} {
		t.Run(name, func(t *testing.T) {
			if err := n.terminating(t, running(), nil); err == nil {
				t.Error("no error")
			}
			for _, call := range n.calls {
				if call == "stopped" {
					t.Error("reported as stopped")
				}
			}
		})
	}
}

func TestAFailedStopIsToldToUsers(t *testing.T) {
	n := &node{fails: "kill"}
	if err := n.terminating(t, running(), nil); !errors.Is(err, errFake) {
		t.Errorf("error %v", err)
	}
	n.expectEvents(t, "FailedKillPod: error killing pod: fake failure")
}

func TestSyncTerminatedPod(t *testing.T) {
	for _, tc := range []struct {
		name   string
		pod    *corev1.Pod
		wanted bool
		want   []string
	}{
		{"deleted", deletedPod(), true, []string{"unmount", "remove", "destroy cgroup", "remove dirs", "terminated"}},
		{"removed", newPod(), false, []string{"unmount", "remove", "destroy cgroup", "remove dirs", "terminated"}},
		{"finished, record stays", newPod(), true, []string{"unmount", "destroy cgroup", "terminated"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			n := &node{wanted: tc.wanted}
			if err := n.syncer().SyncTerminatedPod(t.Context(), tc.pod, stopped()); err != nil {
				t.Fatal(err)
			}
			n.expect(t, tc.want...)
		})
	}
}

func TestAPodIsTerminatedOnlyWhenAllIsReleased(t *testing.T) {
	for _, fails := range []string{"unmount", "remove", "destroy cgroup", "remove dirs"} {
		t.Run(fails, func(t *testing.T) {
			n := &node{fails: fails}
			if err := n.syncer().SyncTerminatedPod(t.Context(), deletedPod(), stopped()); !errors.Is(err, errFake) {
				t.Errorf("error %v", err)
			}
			if last := n.calls[len(n.calls)-1]; last != fails {
				t.Errorf("went on to %s", last)
			}
		})
	}
}

func TestSyncTerminatingRuntimePod(t *testing.T) {
	n := &node{reading: stopped()}
	if err := n.syncer().SyncTerminatingRuntimePod(t.Context(), &podtypes.RuntimePod{UID: "uid-9"}); err != nil {
		t.Fatal(err)
	}
	n.expect(t, "read", "kill", "read", "remove")
	if n.grace != 30*time.Second {
		t.Errorf("an orphan gets a grace of %s", n.grace)
	}
}

func TestAnOrphanThatStillRunsIsNotRemoved(t *testing.T) {
	n := &node{reading: running()}
	if err := n.syncer().SyncTerminatingRuntimePod(t.Context(), &podtypes.RuntimePod{UID: "uid-9"}); !errors.Is(err, errStillRunning) {
		t.Errorf("error %v", err)
	}
	n.expect(t, "read", "kill", "read")
}

func TestPodDirs(t *testing.T) {
	root := filepath.Join(t.TempDir(), "pods")
	dirs := PodDirs(root)
	if err := dirs.EnsurePod("uid-1"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dirs.Path("uid-1"), "etc-hosts"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := dirs.RemovePod("uid-1"); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(dirs.Path("uid-1")); !os.IsNotExist(err) {
		t.Errorf("still there: %v", err)
	}
}

func TestPodDirsLeavesWhatIsNotItsOwn(t *testing.T) {
	root := filepath.Join(t.TempDir(), "pods")
	if err := os.MkdirAll(root, 0o750); err != nil {
		t.Fatal(err)
	}
	for _, uid := range []string{"", ".", "..", "../x", "a/b", "/"} {
		if err := PodDirs(root).RemovePod(types.UID(uid)); err == nil {
			t.Errorf("%q was removed", uid)
		}
	}
	if _, err := os.Stat(root); err != nil {
		t.Error(err)
	}
}
