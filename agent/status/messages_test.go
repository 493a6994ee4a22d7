// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-run/berth/agent/podtypes"
)

func TestLastWordsShareTheirRoom(t *testing.T) {
	for want, containers := range map[int][]string{4096: {"a", "b", "c"}, 3072: {"init-a", "b", "c", "d"}} {
		last := exited("b", 0, 1)
		last.Message = strings.Repeat("a", 4096)
		got := generate(newPod(corev1.RestartPolicyNever, containers...), &podtypes.PodStatus{Containers: []podtypes.ContainerStatus{last}})
		if said := len(statusOf(got.ContainerStatuses, "b").State.Terminated.Message); said != want {
			t.Errorf("one of %q says %d bytes, want %d", containers, said, want)
		}
	}
}

func TestLimitMessageCutsNoCharacter(t *testing.T) {
	m := &corev1.ContainerStateTerminated{Message: "ab\u00e9"}
	if limitMessage(m, 3); m.Message != "ab" {
		t.Errorf("got %q", m.Message)
	}
	limitMessage(nil, 3)
}
