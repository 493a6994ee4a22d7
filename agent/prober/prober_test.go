// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package prober

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/utils/ptr"

	"github.com/berth-run/berth/agent/podtypes"
)

// node is a Manager on a node that is a fake: what a probe's command says is a
// function of the command, and when it was run is noted.
type node struct {
	*Manager
	t     *testing.T
	began time.Time

	mu   sync.Mutex
	says map[string]error
	// takes is how long each command takes.
	takes time.Duration
	// ended are the containers that do not run any more.
	ended  sets.Set[string]
	tries  map[string][]time.Duration
	events []string
	news   []string
}

// run runs the test in a bubble, with a Manager that runs.
func run(t *testing.T, test func(n *node)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		n := &node{t: t, began: time.Now(), says: map[string]error{}, ended: sets.Set[string]{}, tries: map[string][]time.Duration{}}
		n.Manager = New(Config{Runtime: n, Recorder: n, HostIPs: []string{"192.0.2.1"}})
		ctx, cancel := context.WithCancel(t.Context())
		var parts sync.WaitGroup
		parts.Go(func() { _ = n.Run(ctx) })
		parts.Go(func() { n.listen(ctx) })
		test(n)
		cancel()
		parts.Wait()
	})
}

func (n *node) listen(ctx context.Context) {
	for {
		select {
		case u := <-n.Updates():
			n.mu.Lock()
			n.news = append(n.news, fmt.Sprintf("%s %s %s", n.since(), u.Kind, u.Result))
			n.mu.Unlock()
		case <-ctx.Done():
			return
		}
	}
}

func (n *node) since() time.Duration { return time.Since(n.began) }

func (n *node) RunInContainer(ctx context.Context, _ *corev1.Pod, _ *corev1.Container, _ string, command []string, _ time.Duration) (string, error) {
	n.mu.Lock()
	n.tries[command[0]] = append(n.tries[command[0]], n.since())
	err, takes := n.says[command[0]], n.takes
	n.mu.Unlock()
	select {
	case <-time.After(takes):
	case <-ctx.Done():
		return "", ctx.Err()
	}
	return "", err
}

func (n *node) HasEnded(_ context.Context, id string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.ended.Has(id)
}

func (n *node) Record(_ *corev1.Pod, fieldPath, eventType, reason, message string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.events = append(n.events, fmt.Sprintf("%s %s %s %s", fieldPath, eventType, reason, message))
}

func (n *node) say(command string, err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.says[command] = err
}

// expect compares when a command was run, in seconds since the test began.
func (n *node) expect(command string, want ...int) {
	n.t.Helper()
	synctest.Wait()
	n.mu.Lock()
	defer n.mu.Unlock()
	var got []int
	for _, at := range n.tries[command] {
		got = append(got, int(at.Seconds()))
	}
	if !slices.Equal(got, want) {
		n.t.Errorf("%s was run at %v, want %v", command, got, want)
	}
}

func (n *node) expectNews(want ...string) {
	n.t.Helper()
	synctest.Wait()
	n.mu.Lock()
	defer n.mu.Unlock()
	if !slices.Equal(n.news, want) {
		n.t.Errorf("updates %q, want %q", n.news, want)
	}
}

var errNo = &podtypes.ExitError{Code: 1}

func every(period int32, command string) *corev1.Probe {
	return &corev1.Probe{
		ProbeHandler:  corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{command}}},
		PeriodSeconds: period, TimeoutSeconds: 1, SuccessThreshold: 1, FailureThreshold: 3,
	}
}

// podWith returns a pod with one container, after change.
func podWith(change func(c *corev1.Container)) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web", UID: "uid-1"},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "app"}}},
	}
	change(&pod.Spec.Containers[0])
	return pod
}

// reading shows one instance of the container.
func reading(id string, state podtypes.ContainerState, started time.Time) *podtypes.PodStatus {
	return &podtypes.PodStatus{
		Sandboxes:  []podtypes.SandboxStatus{{Sandbox: podtypes.Sandbox{ID: "s", Ready: true}, IPs: []string{"10.0.0.2"}}},
		Containers: []podtypes.ContainerStatus{{Container: podtypes.Container{ID: id, Name: "app", SandboxID: "s", State: state}, StartedAt: started}},
	}
}

func (n *node) starts(pod *corev1.Pod, id string) {
	n.SyncPod(pod, reading(id, podtypes.ContainerRunning, time.Now()))
}

func TestReadinessIsAskedForAtOnceAndEachPeriod(t *testing.T) {
	run(t, func(n *node) {
		pod := podWith(func(c *corev1.Container) { c.ReadinessProbe = every(5, "ready") })
		n.starts(pod, "c1")
		n.expect("ready", 0)
		n.expectNews("0s Readiness Success")
		time.Sleep(11 * time.Second)
		n.expect("ready", 0, 5, 10)
		n.say("ready", errNo)
		time.Sleep(15 * time.Second)
		n.expectNews("0s Readiness Success", "25s Readiness Failure")
		if got := n.Result("c1", podtypes.Readiness); got != podtypes.ProbeFailure {
			t.Errorf("the result is %s", got)
		}
		n.say("ready", nil)
		time.Sleep(5 * time.Second)
		n.expectNews("0s Readiness Success", "25s Readiness Failure", "30s Readiness Success")
		if want := "spec.containers{app} Warning Unhealthy Readiness probe failed: "; len(n.events) != 3 || n.events[0] != want {
			t.Errorf("events %q, want 3 of %q", n.events, want)
		}
	})
}

func TestInitialDelay(t *testing.T) {
	run(t, func(n *node) {
		n.starts(podWith(func(c *corev1.Container) {
			c.LivenessProbe = every(10, "alive")
			c.LivenessProbe.InitialDelaySeconds = 7
		}), "c1")
		time.Sleep(20 * time.Second)
		n.expect("alive", 7, 17)
	})
}

func TestStartupHoldsBackTheOthers(t *testing.T) {
	run(t, func(n *node) {
		n.say("started", errNo)
		n.starts(podWith(func(c *corev1.Container) {
			c.StartupProbe, c.LivenessProbe, c.ReadinessProbe = every(2, "started"), every(10, "alive"), every(10, "ready")
			c.StartupProbe.FailureThreshold = 30
		}), "c1")
		time.Sleep(5 * time.Second)
		n.expect("alive")
		n.expect("ready")
		n.say("started", nil)
		time.Sleep(15 * time.Second)
		n.expect("started", 0, 2, 4, 6)
		n.expect("alive", 6, 16)
		n.expect("ready", 6, 16)
	})
}

func TestAFailedContainerIsAskedNoMore(t *testing.T) {
	run(t, func(n *node) {
		pod := podWith(func(c *corev1.Container) { c.LivenessProbe = every(1, "alive") })
		n.say("alive", errNo)
		n.starts(pod, "c1")
		time.Sleep(10 * time.Second)
		n.expect("alive", 0, 1, 2)
		n.expectNews("2s Liveness Failure")
		n.SyncPod(pod, reading("c1", podtypes.ContainerExited, n.began))
		if got := n.Result("c1", podtypes.Liveness); got != podtypes.ProbeFailure {
			t.Errorf("of the container that was stopped: %s", got)
		}
		n.say("alive", nil)
		n.starts(pod, "c2")
		n.expect("alive", 0, 1, 2, 10)
		if c1, c2 := n.Result("c1", podtypes.Liveness), n.Result("c2", podtypes.Liveness); c1 != podtypes.ProbeUnknown || c2 != podtypes.ProbeSuccess {
			t.Errorf("after the restart: %s and %s", c1, c2)
		}
	})
}

func TestOneTryAtATime(t *testing.T) {
	run(t, func(n *node) {
		n.takes = 3500 * time.Millisecond
		n.starts(podWith(func(c *corev1.Container) { c.ReadinessProbe = every(1, "ready") }), "c1")
		time.Sleep(9 * time.Second)
		n.expect("ready", 0, 3, 7)
	})
}

func TestB056UnknownIsNotCounted(t *testing.T) {
	run(t, func(n *node) {
		n.say("alive", fmt.Errorf("%w: alive", podtypes.ErrTimedOut))
		n.starts(podWith(func(c *corev1.Container) { c.LivenessProbe = every(1, "alive") }), "c1")
		time.Sleep(1500 * time.Millisecond)
		n.say("alive", context.Canceled) // whatever is not of the command
		time.Sleep(10 * time.Second)
		n.expectNews()
		n.say("alive", fmt.Errorf("%w: alive", podtypes.ErrTimedOut))
		time.Sleep(time.Second)
		n.expectNews("12s Liveness Failure")
	})
}

func TestAnEndingPodIsAskedForItsReadinessOnly(t *testing.T) {
	run(t, func(n *node) {
		pod := podWith(func(c *corev1.Container) { c.LivenessProbe, c.ReadinessProbe = every(1, "alive"), every(1, "ready") })
		n.starts(pod, "c1")
		time.Sleep(1500 * time.Millisecond)
		n.StopLivenessAndStartup(pod.UID)
		time.Sleep(2 * time.Second)
		n.expect("alive", 0, 1)
		n.expect("ready", 0, 1, 2, 3)
		n.RemovePod(pod.UID)
		time.Sleep(2 * time.Second)
		n.expect("ready", 0, 1, 2, 3)
		if got := n.Result("c1", podtypes.Readiness); got != podtypes.ProbeUnknown {
			t.Errorf("of a pod that was removed: %s", got)
		}
	})
}

// Between a container's end and that of its pod there is nobody to ask, which is no news.
func TestAnEndingContainerThatIsGoneIsNoEvent(t *testing.T) {
	run(t, func(n *node) {
		pod := podWith(func(c *corev1.Container) { c.ReadinessProbe = every(1, "ready") })
		n.say("ready", errors.New("no running task found"))
		n.starts(pod, "c1")
		time.Sleep(500 * time.Millisecond)
		n.StopLivenessAndStartup(pod.UID)
		time.Sleep(2 * time.Second)
		n.expect("ready", 0, 1, 2)
		n.say("ready", &podtypes.ExitError{Code: 1})
		time.Sleep(time.Second)
		synctest.Wait()
		want := []string{
			"spec.containers{app} Warning Unhealthy Readiness probe errored and resulted in unknown state: no running task found",
			"spec.containers{app} Warning Unhealthy Readiness probe failed: ",
		}
		if !slices.Equal(n.events, want) {
			t.Errorf("events %q, want %q", n.events, want)
		}
	})
}

// A container may end long before the pod is read again: while the pod is being stopped,
// or one of its images is pulled.
func TestAContainerThatHasEndedIsAskedNoMore(t *testing.T) {
	run(t, func(n *node) {
		n.starts(podWith(func(c *corev1.Container) { c.LivenessProbe, c.ReadinessProbe = every(1, "alive"), every(1, "ready") }), "c1")
		time.Sleep(1500 * time.Millisecond)
		n.say("alive", errNo)
		n.say("ready", errNo)
		n.mu.Lock()
		n.ended.Insert("c1")
		n.mu.Unlock()
		time.Sleep(5 * time.Second)
		n.expect("alive", 0, 1, 2)
		n.expect("ready", 0, 1, 2)
		if ready, alive := n.Result("c1", podtypes.Readiness), n.Result("c1", podtypes.Liveness); ready != podtypes.ProbeFailure || alive != podtypes.ProbeSuccess {
			t.Errorf("ready is %s, alive %s", ready, alive)
		}
		if len(n.events) > 0 {
			t.Errorf("events %q", n.events)
		}
	})
}

func TestCleanupPods(t *testing.T) {
	run(t, func(n *node) {
		pod := podWith(func(c *corev1.Container) { c.ReadinessProbe = every(1, "ready") })
		n.starts(pod, "c1")
		n.CleanupPods(sets.New(pod.UID))
		n.expect("ready", 0)
		n.CleanupPods(sets.New[types.UID]())
		time.Sleep(3 * time.Second)
		n.expect("ready", 0)
	})
}

// After a restart of the agent what has started is not asked for that again.
func TestB052WhatHasStartedIsNotAskedAgain(t *testing.T) {
	run(t, func(n *node) {
		pod := podWith(func(c *corev1.Container) { c.StartupProbe, c.LivenessProbe = every(1, "started"), every(1, "alive") })
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "app", ContainerID: "containerd://c1", Started: ptr.To(true)}}
		n.starts(pod, "c1")
		n.expect("started")
		n.expect("alive", 0)
		if got := n.Result("c1", podtypes.Startup); got != podtypes.ProbeSuccess {
			t.Errorf("c1 is %s", got)
		}
		n.starts(pod, "c2")
		n.expect("started", 0)
	})
}

func TestFirstDelay(t *testing.T) {
	probe := every(10, "x")
	probe.InitialDelaySeconds = 5
	const s = time.Second
	for name, tc := range map[string]struct {
		ran    time.Duration
		before bool
		want   time.Duration
	}{
		"just started":               {0, false, 5 * s},
		"started a moment ago":       {2 * s, false, 3 * s},
		"started long ago":           {time.Hour, false, 0},
		"the clock was set back":     {-time.Hour, false, 5 * s},
		"it ran before the agent":    {time.Hour, true, 4 * s},
		"so did one that just began": {s / 2, true, 4500 * time.Millisecond},
	} {
		if got := firstDelay(probe, tc.ran, tc.before, 0.4); got != tc.want {
			t.Errorf("%s: %s, want %s", name, got, tc.want)
		}
	}
}

func TestPodIP(t *testing.T) {
	pod, r := podWith(func(*corev1.Container) {}), reading("c", podtypes.ContainerRunning, time.Time{})
	if got := podIP(pod, r, []string{"192.0.2.1"}); got != "10.0.0.2" {
		t.Errorf("in a network of its own: %q", got)
	}
	pod.Spec.HostNetwork = true
	if got := podIP(pod, r, []string{"192.0.2.1"}); got != "192.0.2.1" {
		t.Errorf("in the node's network: %q", got)
	}
}
