// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package table

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/berth-run/berth/api"
)

func TestRestarts(t *testing.T) {
	restarted := func(s corev1.ContainerStatus, times int32, last time.Duration) corev1.ContainerStatus {
		s.RestartCount = times
		s.LastTerminationState.Terminated = &corev1.ContainerStateTerminated{FinishedAt: ago(last)}
		return s
	}
	pod := func(init, side, app corev1.ContainerStatus) *corev1.Pod {
		return &corev1.Pod{
			Spec: corev1.PodSpec{
				InitContainers: []corev1.Container{
					{Name: "init"}, {Name: "side", RestartPolicy: ptr.To(corev1.ContainerRestartPolicyAlways)},
				},
				Containers: []corev1.Container{{Name: "app"}},
			},
			Status: corev1.PodStatus{
				InitContainerStatuses: []corev1.ContainerStatus{init, side},
				ContainerStatuses:     []corev1.ContainerStatus{app},
			},
		}
	}
	initDone := restarted(exited("init", 0, "Completed"), 2, time.Minute)
	for name, tc := range map[string]struct {
		pod  *corev1.Pod
		want string
	}{
		"init container": {pod(restarted(waiting("init", "CrashLoopBackOff"), 2, time.Hour), waiting("side", ""), waiting("app", "PodInitializing")), "2 (60m ago)"},
		"initialized":    {pod(initDone, running("side", true), running("app", true)), "0"},
		"sidecar":        {pod(initDone, restarted(running("side", true), 1, time.Hour), running("app", true)), "1 (60m ago)"},
		"all":            {pod(initDone, restarted(running("side", true), 1, time.Hour), restarted(running("app", true), 3, 5*time.Minute)), "4 (5m ago)"},
	} {
		if got := Row(api.Pods, tc.pod, now).Cells[3]; got != tc.want {
			t.Errorf("%s: %v, want %s", name, got, tc.want)
		}
	}
}

func TestNodeRolesAreSorted(t *testing.T) {
	n := &corev1.Node{}
	n.Labels = map[string]string{roleLabel + "worker": "", roleLabel + "edge": "", roleLabel: "", "other": "", roleLabel + "db": ""}
	if got := Row(api.Nodes, n, now).Cells[2]; got != "db,edge,worker" {
		t.Errorf("roles %v", got)
	}
}
