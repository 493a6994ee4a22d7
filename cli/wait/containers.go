// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package wait

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-run/berth/api"
)

// overContainer finds a container that has ended and is not started again, so that
// the pod never has all of them running: one that failed before one that completed.
func overContainer(pod *corev1.Pod) (Verdict, bool) {
	var completed *corev1.ContainerStatus
	for i, c := range statuses(pod) {
		t := c.State.Terminated
		switch {
		case t == nil || mayRestart(pod, c.Name, t.ExitCode):
		case t.ExitCode != 0:
			return Verdict{Failed, exit(c.Name, t) + ", and is not started again"}, true
		case completed == nil && i >= len(pod.Status.InitContainerStatuses):
			completed = &c
		}
	}
	if completed == nil {
		return Verdict{}, false
	}
	return Verdict{Completed, exit(completed.Name, completed.State.Terminated) + ", and is not started again"}, true
}

func exit(container string, t *corev1.ContainerStateTerminated) string {
	text := fmt.Sprintf("container %s ended with exit code %d", container, t.ExitCode)
	if t.Reason != "" && t.Reason != "Error" && t.Reason != "Completed" {
		text += " (" + t.Reason + ")"
	}
	return text + joined(t.Message)
}

// mayRestart tells whether a container that ended so may be started again.
func mayRestart(pod *corev1.Pod, name string, exitCode int32) bool {
	c := api.Container(pod, name)
	return c == nil || api.ShouldRestart(&pod.Spec, c, exitCode)
}

// imageErrors are the waiting reasons of a container whose image cannot be had. A
// node tries most of them again, but it is a person who mends them. What heals by
// itself is none of them: CreateContainerConfigError when the Secret or ConfigMap
// is created, CrashLoopBackOff with a later start.
var imageErrors = []string{"ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull"}

// missingImage finds a container without its image.
func missingImage(pod *corev1.Pod) (Verdict, bool) {
	for _, c := range statuses(pod) {
		if w := c.State.Waiting; w != nil && slices.Contains(imageErrors, w.Reason) {
			return Verdict{ImageError, fmt.Sprintf("container %s: %s%s", c.Name, w.Reason, joined(w.Message))}, true
		}
	}
	return Verdict{}, false
}
