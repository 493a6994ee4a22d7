// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package eviction

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-run/berth/agent/podtypes"
	"github.com/berth-run/berth/api"
)

// node is what a Manager works on.
type node struct {
	pods       []*corev1.Pod
	dirs       map[string]podtypes.Volume
	containers map[string]int64
	err        error

	measured, evicted, told []string
	status                  corev1.PodStatus
}

func (n *node) run(t *testing.T, rounds int) {
	t.Helper()
	m := New(Config{
		Pods:    func() []*corev1.Pod { return n.pods },
		Volumes: func(types.UID) map[string]podtypes.Volume { return n.dirs },
		ContainerStorage: func(_ context.Context, pod *corev1.Pod) (map[string]int64, error) {
			n.measured = append(n.measured, pod.Name)
			return n.containers, n.err
		},
		Ending: func(uid types.UID) bool { return slices.Contains(n.evicted, string(uid)) },
		Evict: func(pod *corev1.Pod, _ int64, status func(*corev1.PodStatus)) {
			n.evicted = append(n.evicted, string(pod.UID))
			status(&n.status)
		},
		Recorder: n, Logger: slog.New(slog.DiscardHandler),
	})
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(rounds)*period+period/2)
		defer cancel()
		if err := m.Run(ctx); err != nil {
			t.Error(err)
		}
	})
}

func (n *node) Record(_ *corev1.Pod, _, eventType, reason, message string) {
	n.told = append(n.told, eventType+" "+reason+" "+message)
}

func limited(name string, phase corev1.PodPhase) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name)},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{container("c", "16Mi")}},
		Status:     corev1.PodStatus{Phase: phase},
	}
}

func TestAPodBeyondItsLimitIsEvictedOnce(t *testing.T) {
	n := &node{pods: []*corev1.Pod{limited("a", "")}, containers: map[string]int64{"c": 17 * mi}}
	n.run(t, 3)
	const why = "Pod ephemeral local storage usage exceeds the total limit of containers 16Mi. "
	if !slices.Equal(n.evicted, []string{"a"}) || !slices.Equal(n.told, []string{"Warning Evicted " + why}) {
		t.Errorf("evicted %q, told %q", n.evicted, n.told)
	}
	if n.status.Phase != corev1.PodFailed || n.status.Reason != "Evicted" || n.status.Message != why {
		t.Errorf("status %+v", n.status)
	}
	if c := api.PodCondition(&n.status, corev1.DisruptionTarget); c == nil || c.Reason != "TerminationByKubelet" {
		t.Errorf("condition %+v", c)
	}
}

func TestAnEmptyDirIsMeasured(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "f"), make([]byte, 2*mi), 0o600); err != nil {
		t.Fatal(err)
	}
	pod := limited("a", "")
	pod.Spec.Containers[0].Resources = corev1.ResourceRequirements{}
	pod.Spec.Volumes = []corev1.Volume{emptyDir("cache", "1Mi", "")}
	n := &node{pods: []*corev1.Pod{pod}, dirs: map[string]podtypes.Volume{"cache": {HostPath: dir}}}
	n.run(t, 1)
	if n.status.Message != "Usage of EmptyDir volume \"cache\" exceeds the limit \"1Mi\". " {
		t.Errorf("status %+v", n.status)
	}
	if len(n.measured) > 0 {
		t.Error("the runtime was asked of containers without limits")
	}
}

func TestWhatIsNotEvicted(t *testing.T) {
	free := limited("free", "")
	free.Spec.Containers[0].Resources = corev1.ResourceRequirements{}
	for name, n := range map[string]*node{
		"within its limit": {pods: []*corev1.Pod{limited("a", "")}, containers: map[string]int64{"c": 15 * mi}},
		"without a limit":  {pods: []*corev1.Pod{free}, containers: map[string]int64{"c": 17 * mi}},
		"ended":            {pods: []*corev1.Pod{limited("a", corev1.PodSucceeded)}, containers: map[string]int64{"c": 17 * mi}},
		"not measured":     {pods: []*corev1.Pod{limited("a", "")}, containers: map[string]int64{"c": 17 * mi}, err: errors.New("no answer")},
	} {
		t.Run(name, func(t *testing.T) {
			if n.run(t, 1); len(n.evicted) > 0 {
				t.Errorf("evicted %q", n.evicted)
			}
		})
	}
}

func TestAPodThatEndedBeforeKeepsItsPhase(t *testing.T) {
	status := corev1.PodStatus{Phase: corev1.PodSucceeded}
	if evicted("late")(&status); status.Phase != corev1.PodSucceeded || status.Reason != "" {
		t.Errorf("%+v", status)
	}
}
