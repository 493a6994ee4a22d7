// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"log/slog"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-run/berth/agent/podtypes"
	"github.com/berth-run/berth/api"
)

// says is what probes say, by container ID and kind.
type says map[string]podtypes.ProbeResult

func (s says) Result(id string, kind podtypes.ProbeKind) podtypes.ProbeResult {
	return s[id+" "+string(kind)]
}

const (
	good = podtypes.ProbeSuccess
	bad  = podtypes.ProbeFailure
)

// probedPod has one container with the kinds of probes.
func probedPod(kinds ...podtypes.ProbeKind) *corev1.Pod {
	pod := newPod(always, "a")
	for _, kind := range kinds {
		switch kind {
		case podtypes.Startup:
			pod.Spec.Containers[0].StartupProbe = &corev1.Probe{}
		case podtypes.Readiness:
			pod.Spec.Containers[0].ReadinessProbe = &corev1.Probe{}
		case podtypes.Liveness:
			pod.Spec.Containers[0].LivenessProbe = &corev1.Probe{}
		}
	}
	return pod
}

func TestB052B053StartedAndReady(t *testing.T) {
	// What was reported before, by this run of the agent or by another.
	started, yes := true, "containerd://a.0"
	reported := func(ready bool, id string) *corev1.PodStatus {
		return &corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{Name: "a", ContainerID: id, Started: &started, Ready: ready,
			State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}}}
	}
	for name, tc := range map[string]struct {
		kinds          []podtypes.ProbeKind
		says           says
		before         *corev1.PodStatus
		started, ready bool
	}{
		"no probes":                                  {started: true, ready: true},
		"liveness alone":                             {kinds: []podtypes.ProbeKind{podtypes.Liveness}, started: true, ready: true},
		"readiness, not asked yet":                   {kinds: []podtypes.ProbeKind{podtypes.Readiness}, started: true},
		"readiness":                                  {kinds: []podtypes.ProbeKind{podtypes.Readiness}, says: says{"a.0 Readiness": good}, started: true, ready: true},
		"readiness fails":                            {kinds: []podtypes.ProbeKind{podtypes.Readiness}, says: says{"a.0 Readiness": bad}, before: reported(true, yes), started: true},
		"of the instance before":                     {kinds: []podtypes.ProbeKind{podtypes.Readiness}, says: says{"a.9 Readiness": good}, started: true},
		"was ready, not asked since":                 {kinds: []podtypes.ProbeKind{podtypes.Readiness}, before: reported(true, yes), started: true, ready: true},
		"was not ready, not asked since":             {kinds: []podtypes.ProbeKind{podtypes.Readiness}, before: reported(false, yes), started: true},
		"the instance before was ready":              {kinds: []podtypes.ProbeKind{podtypes.Readiness}, before: reported(true, "containerd://a.9"), started: true},
		"startup, not asked yet":                     {kinds: []podtypes.ProbeKind{podtypes.Startup}},
		"startup":                                    {kinds: []podtypes.ProbeKind{podtypes.Startup}, says: says{"a.0 Startup": good}, started: true, ready: true},
		"had started, not asked since":               {kinds: []podtypes.ProbeKind{podtypes.Startup}, before: reported(true, yes), started: true, ready: true},
		"ready by a probe, but not past its startup": {kinds: []podtypes.ProbeKind{podtypes.Startup, podtypes.Readiness}, says: says{"a.0 Readiness": good}},
	} {
		t.Run(name, func(t *testing.T) {
			in := input(probedPod(tc.kinds...), runtimeStatus(running("a", 0)))
			in.Probes, in.Previous = tc.says, tc.before
			got := Generate(in)
			if s := got.ContainerStatuses[0]; *s.Started != tc.started || s.Ready != tc.ready {
				t.Errorf("started %t, ready %t", *s.Started, s.Ready)
			}
			if ready := api.PodCondition(&got, corev1.PodReady).Status == corev1.ConditionTrue; ready != tc.ready {
				t.Errorf("the pod is ready: %t", ready)
			}
		})
	}
}

func TestASidecarInitializesWhenItHasStarted(t *testing.T) {
	pod := newPod(always, "side-s", "a")
	pod.Spec.InitContainers[0].StartupProbe, pod.Spec.InitContainers[0].ReadinessProbe = &corev1.Probe{}, &corev1.Probe{}
	in := input(pod, runtimeStatus(running("side-s", 0)))
	for _, tc := range []struct {
		says says
		want string
	}{{nil, "False ContainersNotInitialized"}, {says{"side-s.0 Startup": good}, "True"}} {
		in.Probes = tc.says
		got := Generate(in)
		if s := showCondition(&got, corev1.PodInitialized); s != tc.want {
			t.Errorf("%v: Initialized is %q, want %q", tc.says, s, tc.want)
		}
	}
}

func TestReadinessGates(t *testing.T) {
	const gate = "www.example.com/feature"
	pod := newPod(always, "a")
	pod.Spec.ReadinessGates = []corev1.PodReadinessGate{{ConditionType: gate}}
	for name, tc := range map[string]struct {
		has           []corev1.PodCondition
		have          *podtypes.PodStatus
		want, message string
	}{
		"open":              {[]corev1.PodCondition{{Type: gate, Status: corev1.ConditionTrue}}, runtimeStatus(running("a", 0)), "True", ""},
		"closed":            {[]corev1.PodCondition{{Type: gate, Status: corev1.ConditionFalse}}, runtimeStatus(running("a", 0)), "False ReadinessGatesNotReady", `the status of pod readiness gate "www.example.com/feature" is not "True", but False`},
		"not there":         {nil, runtimeStatus(running("a", 0)), "False ReadinessGatesNotReady", `corresponding condition of pod readiness gate "www.example.com/feature" does not exist.`},
		"containers before": {nil, runtimeStatus(), "False ContainersNotReady", "containers with unready status: [a]"},
	} {
		t.Run(name, func(t *testing.T) {
			got := after(corev1.PodStatus{Conditions: tc.has}, pod, tc.have)
			if s := showCondition(&got, corev1.PodReady); s != tc.want {
				t.Errorf("Ready is %q, want %q", s, tc.want)
			}
			if c := api.PodCondition(&got, corev1.PodReady); c.Message != tc.message {
				t.Errorf("message %q", c.Message)
			}
		})
	}
}

// What probes say changes a report at once, whatever the pod's worker is at.
func TestProbedReportsWhatProbesSay(t *testing.T) {
	pod, probes := probedPod(podtypes.Readiness), says{"a.0 Readiness": good}
	r := &Reporter{Manager: NewManager(slog.New(slog.DiscardHandler)), HostIPs: func() []string { return nil }, RuntimeName: "containerd", Probes: probes}
	r.Probed(pod)
	if _, ok := r.PodStatus(pod.UID); ok {
		t.Fatal("a pod is reported that never was")
	}
	r.Syncing(pod, runtimeStatus(running("a", 0)), nil)
	first := r.Dirty()
	r.Probed(pod)
	if again := r.Dirty(); len(first) != 1 || len(again) != 0 {
		t.Errorf("%d reports, and %d of what has not changed", len(first), len(again))
	}
	probes["a.0 Readiness"] = bad
	r.Probed(pod)
	status, _ := r.PodStatus(pod.UID)
	if got := showCondition(&status, corev1.PodReady); got != "False ContainersNotReady" || status.ContainerStatuses[0].Ready {
		t.Errorf("Ready is %q", got)
	}
	if got := showCondition(&status, corev1.PodReadyToStartContainers); got != "True" {
		t.Errorf("what is not of probes: %q", got)
	}
}

// A gate opens and closes with the condition that another keeps at the server, which
// the node's own reports never change.
func TestReconcileFollowsTheConditionsOfOthers(t *testing.T) {
	const gate = "www.example.com/feature"
	pod := newPod(always, "a")
	pod.Spec.ReadinessGates = []corev1.PodReadinessGate{{ConditionType: gate}}
	r := &Reporter{Manager: NewManager(slog.New(slog.DiscardHandler)), HostIPs: func() []string { return nil }, RuntimeName: "containerd"}
	r.Syncing(pod, runtimeStatus(running("a", 0)), nil)
	for _, tc := range []struct {
		has  []corev1.PodCondition
		want string
	}{
		{[]corev1.PodCondition{{Type: gate, Status: corev1.ConditionTrue}}, "True"},
		{[]corev1.PodCondition{{Type: gate, Status: corev1.ConditionFalse}}, "False ReadinessGatesNotReady"},
		{[]corev1.PodCondition{{Type: gate, Status: corev1.ConditionTrue}}, "True"},
		{nil, "False ReadinessGatesNotReady"},
	} {
		status, _ := r.PodStatus(pod.UID)
		stored := pod.DeepCopy()
		stored.Status = status
		adoptConditions(&stored.Status, tc.has)
		r.Reconcile(stored)
		status, _ = r.PodStatus(pod.UID)
		if got := showCondition(&status, corev1.PodReady); got != tc.want {
			t.Errorf("with %v Ready is %q, want %q", tc.has, got, tc.want)
		}
	}
}
