// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podruntime

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/berth-run/berth/agent/podtypes"
)

// want is what the actions of a case come to, with containers by name and id.
type want struct {
	KillPod bool
	Create  bool
	Attempt uint32
	Kill    []string
	Start   []string
}

func (a podActions) summary() want {
	w := want{KillPod: a.KillPod, Create: a.CreateSandbox, Attempt: a.Attempt}
	for _, k := range a.Kill {
		w.Kill = append(w.Kill, k.ID)
	}
	for _, c := range slices.Concat(a.Start, a.Ephemeral) {
		w.Start = append(w.Start, c.Name)
	}
	return w
}

// Builders of a runtime's answer. Containers are of sandbox s0 unless said.

type option func(*podtypes.ContainerStatus)

func of(sandbox string) option   { return func(c *podtypes.ContainerStatus) { c.SandboxID = sandbox } }
func withHash(h string) option   { return func(c *podtypes.ContainerStatus) { c.Hash = h } }
func attempt(n uint32) option    { return func(c *podtypes.ContainerStatus) { c.Attempt = n } }
func withExit(code int32) option { return func(c *podtypes.ContainerStatus) { c.ExitCode = code } }

func in(state podtypes.ContainerState, name string, options ...option) podtypes.ContainerStatus {
	spec := testContainer(name)
	c := podtypes.ContainerStatus{
		Container: podtypes.Container{ID: name + "-id", Name: name, SandboxID: "s0", State: state},
		Hash:      identity(&spec),
	}
	for _, o := range options {
		o(&c)
	}
	return c
}

func running(name string, options ...option) podtypes.ContainerStatus {
	return in(podtypes.ContainerRunning, name, options...)
}

func exited(code int32, name string, options ...option) podtypes.ContainerStatus {
	return in(podtypes.ContainerExited, name, append(options, withExit(code))...)
}

func ready(id string, attempt uint32) podtypes.SandboxStatus {
	return podtypes.SandboxStatus{Sandbox: podtypes.Sandbox{ID: id, Attempt: attempt, Ready: true}, IPs: []string{"10.0.0.2"}}
}

func notReady(id string, attempt uint32) podtypes.SandboxStatus {
	return podtypes.SandboxStatus{Sandbox: podtypes.Sandbox{ID: id, Attempt: attempt}}
}

func withoutIP(s podtypes.SandboxStatus) podtypes.SandboxStatus { s.IPs = nil; return s }

func onHost(s podtypes.SandboxStatus) podtypes.SandboxStatus {
	s.IPs, s.HostNetwork = nil, true
	return s
}

// testInit is a sidecar if its name is s, t or p, which has a startup probe.
func testInit(name string) corev1.Container {
	c := testContainer(name)
	if strings.Contains("stp", name) {
		c.RestartPolicy = ptr.To(corev1.ContainerRestartPolicyAlways)
	}
	if name == "p" {
		c.StartupProbe = &corev1.Probe{}
	}
	return c
}

func testEphemeral(name string) corev1.EphemeralContainer {
	return corev1.EphemeralContainer{EphemeralContainerCommon: corev1.EphemeralContainerCommon(testContainer(name))}
}

func started(name string) probeResults {
	return probeResults{name + "-id": {startup: podtypes.ProbeSuccess}}
}

func failed(name string) probeResults {
	return probeResults{name + "-id": {startup: podtypes.ProbeFailure}}
}

func TestComputePodActions(t *testing.T) {
	const (
		always    = corev1.RestartPolicyAlways
		onFailure = corev1.RestartPolicyOnFailure
		never     = corev1.RestartPolicyNever
	)
	type sandboxes = []podtypes.SandboxStatus
	type containers = []podtypes.ContainerStatus
	s0 := ready("s0", 0)

	for name, tc := range map[string]struct {
		policy      corev1.RestartPolicy
		hostNetwork bool
		inits       []string
		ephemeral   []string
		probes      probeResults
		sandboxes   sandboxes
		containers  containers
		want        want
	}{
		// Sandbox.
		"a new pod": {
			want: want{Create: true, Start: []string{"a", "b"}},
		},
		"a new pod with init containers": {
			inits: []string{"i", "j"},
			want:  want{Create: true, Start: []string{"i"}},
		},
		"all runs": {
			sandboxes: sandboxes{s0}, containers: containers{running("a"), running("b")},
			want: want{},
		},
		"a sandbox without containers": {
			sandboxes: sandboxes{s0},
			want:      want{Start: []string{"a", "b"}},
		},
		"the sandbox is not ready": {
			sandboxes: sandboxes{notReady("s0", 4)}, containers: containers{running("a"), exited(0, "b")},
			want: want{KillPod: true, Create: true, Attempt: 5, Start: []string{"a", "b"}},
		},
		"a sandbox without an address": {
			sandboxes: sandboxes{withoutIP(s0)},
			want:      want{KillPod: true, Create: true, Attempt: 1, Start: []string{"a", "b"}},
		},
		"a sandbox in the host's network has none": {
			hostNetwork: true, sandboxes: sandboxes{onHost(s0)}, containers: containers{running("a"), running("b")},
			want: want{},
		},
		"the network mode has changed": {
			hostNetwork: true, sandboxes: sandboxes{s0}, containers: containers{running("a"), running("b")},
			want: want{KillPod: true, Create: true, Attempt: 1, Start: []string{"a", "b"}},
		},
		"two ready sandboxes": {
			sandboxes: sandboxes{ready("s1", 1), s0}, containers: containers{running("a"), running("b")},
			want: want{KillPod: true, Create: true, Attempt: 2, Start: []string{"a", "b"}},
		},
		"the older sandbox is the ready one": {
			sandboxes: sandboxes{notReady("s1", 1), s0}, containers: containers{running("a"), running("b")},
			want: want{KillPod: true, Create: true, Attempt: 2, Start: []string{"a", "b"}},
		},
		"a container still runs in a former sandbox": {
			sandboxes: sandboxes{ready("s1", 1), notReady("s0", 0)}, containers: containers{running("a", of("s1")), running("b")},
			want: want{Kill: []string{"b-id"}, Start: []string{"b"}},
		},

		// No sandbox for nothing.
		"all have ended under Never": {
			policy: never, sandboxes: sandboxes{notReady("s0", 0)}, containers: containers{exited(0, "a"), exited(1, "b")},
			want: want{},
		},
		"all have succeeded under OnFailure": {
			policy: onFailure, sandboxes: sandboxes{notReady("s0", 0)}, containers: containers{exited(0, "a"), exited(0, "b")},
			want: want{},
		},
		"one has failed under OnFailure": {
			policy: onFailure, sandboxes: sandboxes{notReady("s0", 0)}, containers: containers{exited(0, "a"), exited(1, "b")},
			want: want{KillPod: true, Create: true, Attempt: 1, Start: []string{"b"}},
		},
		"the sandbox died under Never": {
			policy: never, sandboxes: sandboxes{notReady("s0", 0)}, containers: containers{running("a"), exited(137, "b")},
			want: want{KillPod: true},
		},
		"the sandbox died under Never before a container was made": {
			policy: never, sandboxes: sandboxes{notReady("s0", 0)},
			want: want{KillPod: true, Create: true, Attempt: 1, Start: []string{"a", "b"}},
		},
		"under Never only what never ran runs in a new sandbox": {
			policy: never, sandboxes: sandboxes{notReady("s0", 0)}, containers: containers{exited(0, "a"), in(podtypes.ContainerCreated, "b")},
			want: want{KillPod: true, Create: true, Attempt: 1, Start: []string{"b"}},
		},

		// Restart policies, in a sandbox that is kept.
		"ended under Always": {
			sandboxes: sandboxes{s0}, containers: containers{exited(0, "a"), exited(1, "b")},
			want: want{Start: []string{"a", "b"}},
		},
		"ended under OnFailure": {
			policy: onFailure, sandboxes: sandboxes{s0}, containers: containers{exited(0, "a"), exited(1, "b")},
			want: want{Start: []string{"b"}},
		},
		"one of two ended under Never": {
			policy: never, sandboxes: sandboxes{s0}, containers: containers{running("a"), exited(1, "b")},
			want: want{},
		},
		"both ended under Never": {
			policy: never, sandboxes: sandboxes{s0}, containers: containers{exited(0, "a"), exited(1, "b")},
			want: want{KillPod: true},
		},
		"succeeded under OnFailure in a former sandbox": {
			policy: onFailure, sandboxes: sandboxes{ready("s1", 1), notReady("s0", 0)},
			containers: containers{running("b", of("s1"), attempt(1)), exited(0, "a"), exited(1, "b")},
			want:       want{},
		},
		"only the newest attempt counts": {
			sandboxes: sandboxes{s0}, containers: containers{running("a", attempt(2)), running("b"), exited(1, "a", attempt(1))},
			want: want{},
		},

		// States that are left behind.
		"a created container": {
			policy: never, sandboxes: sandboxes{s0}, containers: containers{in(podtypes.ContainerCreated, "a"), running("b")},
			want: want{Start: []string{"a"}},
		},
		"an unknown container": {
			sandboxes: sandboxes{s0}, containers: containers{in(podtypes.ContainerUnknown, "a"), running("b")},
			want: want{Kill: []string{"a-id"}, Start: []string{"a"}},
		},

		// Identity.
		"a changed image replaces that container": {
			policy: never, sandboxes: sandboxes{s0}, containers: containers{running("a", withHash("v1-other")), running("b")},
			want: want{Kill: []string{"a-id"}, Start: []string{"a"}},
		},
		"an identity of another version replaces nothing": {
			sandboxes: sandboxes{s0}, containers: containers{running("a", withHash("v9-other")), running("b", withHash(""))},
			want: want{},
		},
		"a changed image restarts nothing that has ended": {
			policy: never, sandboxes: sandboxes{s0}, containers: containers{running("a"), exited(0, "b", withHash("v1-other"))},
			want: want{},
		},

		// Init containers.
		"the first init container runs": {
			inits: []string{"i", "j"}, sandboxes: sandboxes{s0}, containers: containers{running("i")},
			want: want{},
		},
		"the first init container is done": {
			inits: []string{"i", "j"}, sandboxes: sandboxes{s0}, containers: containers{exited(0, "i")},
			want: want{Start: []string{"j"}},
		},
		"all init containers are done": {
			inits: []string{"i", "j"}, sandboxes: sandboxes{s0}, containers: containers{exited(0, "i"), exited(0, "j")},
			want: want{Start: []string{"a", "b"}},
		},
		"an init container failed": {
			inits: []string{"i", "j"}, policy: onFailure, sandboxes: sandboxes{s0}, containers: containers{exited(1, "i")},
			want: want{Start: []string{"i"}},
		},
		"an init container failed under Never": {
			inits: []string{"i", "j"}, policy: never, sandboxes: sandboxes{s0}, containers: containers{exited(0, "i"), exited(1, "j")},
			want: want{KillPod: true},
		},
		"an init container failed under Never and the sandbox is gone": {
			inits: []string{"i", "j"}, policy: never, sandboxes: sandboxes{notReady("s0", 0)}, containers: containers{exited(1, "i")},
			want: want{},
		},
		"an init container was only created": {
			inits: []string{"i", "j"}, sandboxes: sandboxes{s0}, containers: containers{in(podtypes.ContainerCreated, "i")},
			want: want{Start: []string{"i"}},
		},
		"an init container has another image": {
			inits: []string{"i", "j"}, sandboxes: sandboxes{s0}, containers: containers{running("i", withHash("v1-other"))},
			want: want{Kill: []string{"i-id"}, Start: []string{"i"}},
		},
		"records of init containers are gone while an app runs": {
			inits: []string{"i", "j"}, sandboxes: sandboxes{s0}, containers: containers{running("a"), exited(1, "b")},
			want: want{Start: []string{"b"}},
		},
		"the record of the first init container is gone": {
			inits: []string{"i", "j"}, sandboxes: sandboxes{s0}, containers: containers{running("j")},
			want: want{},
		},
		"init containers of a former sandbox do not count": {
			inits: []string{"i", "j"}, sandboxes: sandboxes{ready("s1", 1), notReady("s0", 0)},
			containers: containers{exited(0, "i", of("s1")), exited(0, "j"), exited(0, "i"), in(podtypes.ContainerCreated, "a")},
			want:       want{Start: []string{"j"}},
		},
		"init containers run again in a new sandbox": {
			inits: []string{"i", "j"}, sandboxes: sandboxes{notReady("s0", 0)},
			containers: containers{exited(0, "i"), exited(0, "j"), exited(137, "a")},
			want:       want{KillPod: true, Create: true, Attempt: 1, Start: []string{"i"}},
		},

		// Sidecars. Those of the names s and t are restartable, p has a startup probe besides.
		"sidecars start with what comes after them": {
			inits: []string{"s", "i", "t"}, want: want{Create: true, Start: []string{"s", "i"}},
		},
		"only sidecars": {
			inits: []string{"s", "t"}, want: want{Create: true, Start: []string{"s", "t", "a", "b"}},
		},
		"a sidecar with a startup probe is waited for": {
			inits: []string{"s", "p", "t"}, want: want{Create: true, Start: []string{"s", "p"}},
		},
		"its probe has not passed": {
			inits: []string{"p", "i"}, sandboxes: sandboxes{s0}, containers: containers{running("p")},
			want: want{},
		},
		"its probe has passed": {
			inits: []string{"p", "i"}, sandboxes: sandboxes{s0}, containers: containers{running("p")}, probes: started("p"),
			want: want{Start: []string{"i"}},
		},
		"the last one's probe has passed": {
			inits: []string{"i", "p"}, sandboxes: sandboxes{s0}, containers: containers{exited(0, "i"), running("p")}, probes: started("p"),
			want: want{Start: []string{"a", "b"}},
		},
		"a sidecar runs and the next was not started": {
			inits: []string{"s", "i"}, sandboxes: sandboxes{s0}, containers: containers{running("s")},
			want: want{Start: []string{"i"}},
		},
		"a sidecar ended while an init container runs": {
			inits: []string{"s", "i"}, policy: never, sandboxes: sandboxes{s0}, containers: containers{exited(0, "s"), running("i")},
			want: want{Start: []string{"s"}},
		},
		"a sidecar ended before the next was started": {
			inits: []string{"s", "i"}, policy: never, sandboxes: sandboxes{s0}, containers: containers{exited(1, "s")},
			want: want{Start: []string{"s", "i"}},
		},
		"a sidecar ended under Never": {
			inits: []string{"s"}, policy: never, sandboxes: sandboxes{s0}, containers: containers{exited(0, "s"), running("a"), running("b")},
			want: want{Start: []string{"s"}},
		},
		"a sidecar ended well under OnFailure": {
			inits: []string{"s"}, policy: onFailure, sandboxes: sandboxes{s0}, containers: containers{exited(0, "s"), running("a"), running("b")},
			want: want{Start: []string{"s"}},
		},
		"a sidecar's record is gone": {
			inits: []string{"s", "i"}, sandboxes: sandboxes{s0}, containers: containers{running("a"), running("b")},
			want: want{Start: []string{"s"}},
		},
		"a sidecar is unknown": {
			inits: []string{"s"}, sandboxes: sandboxes{s0}, containers: containers{in(podtypes.ContainerUnknown, "s"), running("a"), running("b")},
			want: want{Kill: []string{"s-id"}, Start: []string{"s"}},
		},
		"a sidecar has another image": {
			inits: []string{"s"}, sandboxes: sandboxes{s0}, containers: containers{running("s", withHash("v1-other")), running("a"), running("b")},
			want: want{Kill: []string{"s-id"}, Start: []string{"s"}},
		},
		"a sidecar's startup probe failed": {
			inits: []string{"p", "i"}, sandboxes: sandboxes{s0}, containers: containers{running("p")}, probes: failed("p"),
			want: want{Kill: []string{"p-id"}, Start: []string{"p"}},
		},
		"a sidecar's probe failed under Never": {
			inits: []string{"p"}, policy: never, sandboxes: sandboxes{s0}, containers: containers{running("p"), running("a"), running("b")}, probes: failed("p"),
			want: want{Kill: []string{"p-id"}, Start: []string{"p"}},
		},
		// B029
		"all regular containers crashed beside a sidecar whose probe says nothing yet": {
			inits: []string{"p"}, sandboxes: sandboxes{s0}, containers: containers{running("p"), exited(1, "a"), exited(1, "b")},
			want: want{Start: []string{"a", "b"}},
		},
		"all regular containers are done": {
			inits: []string{"s", "t"}, policy: never, sandboxes: sandboxes{s0},
			containers: containers{running("s"), exited(1, "t"), exited(0, "a"), exited(1, "b")},
			want:       want{KillPod: true},
		},
		"all is done, the sidecars too": {
			inits: []string{"s"}, policy: onFailure, sandboxes: sandboxes{notReady("s0", 0)},
			containers: containers{exited(137, "s"), exited(0, "a"), exited(0, "b")},
			want:       want{},
		},
		"an init container failed for good beside a sidecar": {
			inits: []string{"s", "i"}, policy: never, sandboxes: sandboxes{s0}, containers: containers{running("s"), exited(1, "i")},
			want: want{KillPod: true},
		},

		// Ephemeral containers.
		"an ephemeral container was added": {
			ephemeral: []string{"e", "f"}, sandboxes: sandboxes{s0}, containers: containers{running("a"), running("b"), running("e")},
			want: want{Start: []string{"f"}},
		},
		"an ephemeral container waits for nothing": {
			inits: []string{"i"}, ephemeral: []string{"e"}, sandboxes: sandboxes{s0}, containers: containers{running("i")},
			want: want{Start: []string{"e"}},
		},
		"an ephemeral container runs once": {
			ephemeral: []string{"e"}, sandboxes: sandboxes{ready("s1", 1), notReady("s0", 0)},
			containers: containers{running("a", of("s1")), running("b", of("s1")), exited(1, "e")},
			want:       want{},
		},
		"an ephemeral container was only made": {
			ephemeral: []string{"e"}, sandboxes: sandboxes{s0}, containers: containers{running("a"), running("b"), in(podtypes.ContainerCreated, "e")},
			want: want{Start: []string{"e"}},
		},
		"an ephemeral container keeps no pod up": {
			policy: never, ephemeral: []string{"e", "f"}, sandboxes: sandboxes{s0}, containers: containers{exited(0, "a"), exited(0, "b"), running("e")},
			want: want{KillPod: true},
		},
	} {
		t.Run(name, func(t *testing.T) {
			pod := testPod("a", "b")
			pod.Spec.HostNetwork = tc.hostNetwork
			if tc.policy != "" {
				pod.Spec.RestartPolicy = tc.policy
			}
			for _, i := range tc.inits {
				pod.Spec.InitContainers = append(pod.Spec.InitContainers, testInit(i))
			}
			for _, e := range tc.ephemeral {
				pod.Spec.EphemeralContainers = append(pod.Spec.EphemeralContainers, testEphemeral(e))
			}
			status := &podtypes.PodStatus{Sandboxes: tc.sandboxes, Containers: tc.containers}
			if diff := cmp.Diff(tc.want, computePodActions(pod, status, tc.probes).summary()); diff != "" {
				t.Errorf("actions (-want +got):\n%s", diff)
			}
		})
	}
}

func TestComputePodActionsOfAPodWithoutStatus(t *testing.T) {
	got := computePodActions(testPod("a"), nil, nil).summary()
	if diff := cmp.Diff(want{Create: true, Start: []string{"a"}}, got); diff != "" {
		t.Errorf("actions (-want +got):\n%s", diff)
	}
}
