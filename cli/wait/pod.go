// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package wait

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-run/berth/api"
	"github.com/berth-run/berth/api/table"
)

// running judges a pod that is to have all of its containers running. found is what
// its condition says, which does not count for a pod that is on its way out, nor if
// it was said of an earlier spec.
func running(pod *corev1.Pod, found Verdict) Verdict {
	if v, ended := ended(pod); ended {
		return v
	}
	if pod.DeletionTimestamp != nil {
		return Verdict{Gone, "it is being deleted"}
	}
	if behind(pod) {
		return Verdict{Seen: "its node has yet to report on its newest spec"}
	}
	if found.Outcome == Met {
		return found
	}
	if v, over := overContainer(pod); over {
		return v
	}
	if v, missing := missingImage(pod); missing {
		return v
	}
	return Verdict{Seen: seen(pod)}
}

// ended judges a pod whose phase is terminal.
func ended(pod *corev1.Pod) (Verdict, bool) {
	switch pod.Status.Phase {
	case corev1.PodSucceeded:
		return Verdict{Completed, "it has succeeded"}, true
	case corev1.PodFailed:
		return Verdict{Failed, "it has failed" + why(pod)}, true
	}
	return Verdict{}, false
}

// why says what a pod has failed of: the node's reason, or else the exit codes.
func why(pod *corev1.Pod) string {
	if s := pod.Status; s.Reason != "" || s.Message != "" {
		return joined(s.Reason, s.Message)
	}
	text := ""
	for _, c := range statuses(pod) {
		if t := c.State.Terminated; t != nil && t.ExitCode != 0 {
			text += ": " + exit(c.Name, t)
		}
	}
	return text
}

// behind tells that the pod's status is that of an earlier spec: what it says of
// images and containers may be over.
func behind(pod *corev1.Pod) bool {
	return pod.Status.ObservedGeneration != 0 && pod.Status.ObservedGeneration < pod.Generation
}

// seen says what keeps a pod from running: its scheduling, or the first container
// that waits and says why, or else the word for its state.
func seen(pod *corev1.Pod) string {
	if c := api.PodCondition(&pod.Status, corev1.PodScheduled); c != nil && c.Status == corev1.ConditionFalse {
		return c.Reason + joined(c.Message)
	}
	for _, c := range statuses(pod) {
		if w := c.State.Waiting; w != nil && w.Message != "" {
			return fmt.Sprintf("container %s: %s%s%s", c.Name, w.Reason, joined(w.Message), lastExit(c))
		}
	}
	return table.PodStatus(pod)
}

func lastExit(c corev1.ContainerStatus) string {
	if t := c.LastTerminationState.Terminated; t != nil {
		return fmt.Sprintf(" (it ended with exit code %d)", t.ExitCode)
	}
	return ""
}

// statuses are those of all containers, in the order in which they start.
func statuses(pod *corev1.Pod) []corev1.ContainerStatus {
	return append(pod.Status.InitContainerStatuses[:len(pod.Status.InitContainerStatuses):len(pod.Status.InitContainerStatuses)],
		pod.Status.ContainerStatuses...)
}

// joined puts a colon before each text that says something.
func joined(texts ...string) string {
	out := ""
	for _, t := range texts {
		if t != "" {
			out += ": " + t
		}
	}
	return out
}
