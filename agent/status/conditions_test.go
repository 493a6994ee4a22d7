// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-run/berth/agent/podtypes"
	"github.com/berth-run/berth/api"
)

func TestConditions(t *testing.T) {
	type conditions = map[corev1.PodConditionType]string
	const (
		sandboxed   = corev1.PodReadyToStartContainers
		initialized = corev1.PodInitialized
		contReady   = corev1.ContainersReady
		ready       = corev1.PodReady
	)
	for _, tc := range []struct {
		name   string
		policy corev1.RestartPolicy
		spec   []string
		have   *podtypes.PodStatus
		want   conditions
	}{
		{"nothing there", always, []string{"a"}, nil,
			conditions{corev1.PodScheduled: "True", sandboxed: "False", initialized: "True", contReady: "False ContainersNotReady", ready: "False ContainersNotReady"}},
		{"sandbox", always, []string{"a"}, runtimeStatus(),
			conditions{sandboxed: "True", ready: "False ContainersNotReady"}},
		{"runs", always, []string{"a"}, runtimeStatus(running("a", 0)),
			conditions{sandboxed: "True", initialized: "True", contReady: "True", ready: "True"}},
		{"one of two", always, []string{"a", "b"}, runtimeStatus(running("a", 0)),
			conditions{contReady: "False ContainersNotReady", ready: "False ContainersNotReady"}},
		{"init runs", always, []string{"init-a", "a"}, runtimeStatus(running("init-a", 0)),
			conditions{initialized: "False ContainersNotInitialized", ready: "False ContainersNotReady"}},
		{"init done", always, []string{"init-a", "a"}, runtimeStatus(exited("init-a", 0, 0)),
			conditions{initialized: "True"}},
		{"init failed", never, []string{"init-a", "a"}, runtimeStatus(exited("init-a", 0, 1)),
			conditions{initialized: "False ContainersNotInitialized", contReady: "False PodFailed", ready: "False PodFailed"}},
		{"init forgotten, app runs", always, []string{"init-a", "a"}, runtimeStatus(running("a", 0)),
			conditions{initialized: "True", ready: "True"}},
		{"sidecar not up", always, []string{"side-s", "a"}, runtimeStatus(running("a", 0)),
			conditions{contReady: "False ContainersNotReady", ready: "False ContainersNotReady"}},
		{"succeeded", never, []string{"a"}, runtimeStatus(exited("a", 0, 0)),
			conditions{initialized: "True PodCompleted", contReady: "False PodCompleted", ready: "False PodCompleted"}},
		{"failed", never, []string{"a"}, runtimeStatus(exited("a", 0, 1)),
			conditions{initialized: "True", contReady: "False PodFailed", ready: "False PodFailed"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := generate(newPod(tc.policy, tc.spec...), tc.have)
			for c, want := range tc.want {
				if s := showCondition(&got, c); s != want {
					t.Errorf("%s is %q, want %q", c, s, want)
				}
			}
			if n := len(got.Conditions); n != 5 {
				t.Errorf("%d conditions", n)
			}
		})
	}
}

func showCondition(s *corev1.PodStatus, t corev1.PodConditionType) string {
	c := api.PodCondition(s, t)
	switch {
	case c == nil:
		return ""
	case c.Reason == "":
		return string(c.Status)
	}
	return string(c.Status) + " " + c.Reason
}

func TestUnreadyContainersAreNamed(t *testing.T) {
	got := generate(newPod(always, "a", "b", "c"), runtimeStatus(running("b", 0)))
	if m := api.PodCondition(&got, corev1.PodReady).Message; m != "containers with unready status: [a c]" {
		t.Error(m)
	}
}

func TestTransitionTimesStayUntilTheStatusChanges(t *testing.T) {
	pod := newPod(always, "a")
	in := input(pod, runtimeStatus(running("a", 0)))
	in.Now = t0
	first := Generate(in)
	in.Previous, in.Now = &first, t1
	second := Generate(in)
	if got := api.PodCondition(&second, corev1.PodReady).LastTransitionTime; !got.Time.Equal(t0) {
		t.Errorf("unchanged: %v", got)
	}
	in.Previous, in.Now, in.Runtime = &second, t2, runtimeStatus(exited("a", 0, 1))
	third := Generate(in)
	if got := api.PodCondition(&third, corev1.PodReady).LastTransitionTime; !got.Time.Equal(t2) {
		t.Errorf("changed: %v", got)
	}
	if got := api.PodCondition(&third, corev1.PodScheduled).LastTransitionTime; !got.Time.Equal(t0) {
		t.Errorf("another one: %v", got)
	}
	if !third.StartTime.Time.Equal(t0) {
		t.Errorf("start time %v", third.StartTime)
	}
}

func TestConditionsOfOthersAreKept(t *testing.T) {
	gate := corev1.PodCondition{Type: "example.com/gate", Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(t0)}
	got := after(corev1.PodStatus{Conditions: []corev1.PodCondition{gate}}, newPod(always, "a"), nil)
	if c := api.PodCondition(&got, gate.Type); c == nil || *c != gate {
		t.Errorf("condition %+v", c)
	}
}

func TestMutationMayAddACondition(t *testing.T) {
	in := input(newPod(always, "a"), nil)
	in.Ended = true
	in.Mutate = func(s *corev1.PodStatus) {
		s.Phase = failed
		s.Conditions = append(s.Conditions, corev1.PodCondition{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue})
	}
	got := Generate(in)
	c := api.PodCondition(&got, corev1.DisruptionTarget)
	if c == nil || !c.LastTransitionTime.Time.Equal(t2) {
		t.Errorf("condition %+v", c)
	}
}
