// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func TestWaitingIsReportedOfContainersThatWait(t *testing.T) {
	waits := corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ErrImagePull", Message: "before"}}
	runs := corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}
	for name, tc := range map[string]struct {
		pod    *corev1.Pod
		state  corev1.ContainerState
		reason string // empty: nothing is reported
	}{
		"it waits":                  {newPod(always, "a"), waits, ContainerCreating},
		"after an init container":   {newPod(always, "init-b", "a"), waits, PodInitializing},
		"it runs":                   {newPod(always, "a"), runs, ""},
		"another is what it is for": {newPod(always, "c"), waits, ""},
	} {
		m := newManager()
		m.Waiting(tc.pod, "a", "too early")
		if len(m.Dirty()) > 0 {
			t.Errorf("%s: a pod that was never reported is", name)
		}
		first := tc.pod.Spec.Containers[0].Name
		m.SetPodStatus(tc.pod, corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{Name: first, State: tc.state}}})
		m.Dirty()
		m.Waiting(tc.pod, "a", "7 of 9")
		reports := m.Dirty()
		if len(reports) == 0 {
			if tc.reason != "" {
				t.Errorf("%s: nothing is reported", name)
			}
			continue
		}
		if w := reports[0].Status.ContainerStatuses[0].State.Waiting; w == nil || w.Reason != tc.reason || w.Message != "7 of 9" {
			t.Errorf("%s: reported %+v", name, w)
		}
	}
}
