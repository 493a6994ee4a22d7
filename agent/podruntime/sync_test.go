// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podruntime

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/codes"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/berth-run/berth/agent/cri/fake"
	"github.com/berth-run/berth/agent/cri/fault"
	"github.com/berth-run/berth/agent/podtypes"
)

func TestSyncStartsPod(t *testing.T) {
	h := newHarness(t)
	pod := testPod("web")
	if r := h.mustSync(t, pod); !r.Changed {
		t.Error("the result does not say that something changed")
	}
	if got := h.state(t, pod, "web"); got != podtypes.ContainerRunning {
		t.Errorf("web is %q", got)
	}
	for _, want := range []string{"Pulled spec.containers{web}", "Created spec.containers{web}", "Started spec.containers{web}"} {
		if !h.events.has(want) {
			t.Errorf("no event %q in %q", want, h.events.all)
		}
	}
	if r := h.mustSync(t, pod); r.Changed {
		t.Error("a second sync changed something")
	}
}

// The path from ADD to started is the sum of these calls, and no more.
func TestSyncMakesNoNeedlessCall(t *testing.T) {
	h := newHarness(t)
	if r := h.SyncPod(t.Context(), testPod("web"), &podtypes.PodStatus{}, nil); r.Err != nil {
		t.Fatal(r.Err)
	}
	var got []string
	for _, c := range h.fake.Calls() {
		got = append(got, c.Method)
	}
	slices.Sort(got)
	want := []string{"CreateContainer", "ImageStatus", "PodSandboxStatus", "RunPodSandbox", "StartContainer"}
	if !slices.Equal(got, want) {
		t.Errorf("calls %q, want %q", got, want)
	}
}

func TestSyncRunsInitContainersInOrder(t *testing.T) {
	h := newHarness(t)
	pod := testPod("web")
	pod.Spec.InitContainers = []corev1.Container{testContainer("first"), testContainer("second")}
	ended := fake.Process{Exits: true}
	h.fake.Script("first", ended)
	h.fake.Script("second", fake.Process{Exits: true, Exit: fake.Exit{Code: 1}}, ended)
	var order []string
	for range 5 {
		h.mustSync(t, pod)
	}
	for _, c := range h.fake.Calls("CreateContainer") {
		order = append(order, c.Request.(*runtimeapi.CreateContainerRequest).GetConfig().GetMetadata().GetName())
	}
	if want := []string{"first", "second", "second", "web"}; !slices.Equal(order, want) {
		t.Errorf("containers were made in the order %q, want %q", order, want)
	}
}

func TestSyncReplacesOnlyTheChangedContainer(t *testing.T) {
	h := newHarness(t)
	pod := testPod("web", "log")
	h.mustSync(t, pod)
	before := h.status(t, pod)
	pod = pod.DeepCopy()
	pod.Spec.Containers[0].Image = "busybox:2"
	h.mustSync(t, pod)
	after := h.status(t, pod)
	if before.Latest("log").ID != after.Latest("log").ID {
		t.Error("log was replaced too")
	}
	if web := after.Latest("web"); web.ID == before.Latest("web").ID || web.Image != "busybox:2" || web.RestartCount != 1 {
		t.Errorf("web is %+v", web)
	}
	if !h.events.has("Killing spec.containers{web}") {
		t.Error("no event Killing")
	}
}

func TestSyncShowsWhatCannotBeStarted(t *testing.T) {
	h := newHarness(t)
	pod := testPod("config", "secret", "never", "name", "command", "fine")
	pod.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "A", ValueFrom: &corev1.EnvVarSource{
		ConfigMapKeyRef: &corev1.ConfigMapKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "absent"}, Key: "k"},
	}}}
	pod.Spec.Containers[1].Env = []corev1.EnvVar{{Name: "A", ValueFrom: &corev1.EnvVarSource{
		SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "present"}, Key: "absent"},
	}}}
	h.objects["present"] = &corev1.Secret{}
	pod.Spec.Containers[2].Image, pod.Spec.Containers[2].ImagePullPolicy = "absent:1", corev1.PullNever
	pod.Spec.Containers[3].Image = "Not/A/Name"
	h.fake.Script("command", fake.Process{StartError: `exec: "/does/not/exist": no such file or directory`})
	r := h.sync(t, pod)
	for name, want := range map[string]podtypes.WaitingReason{
		"config":  {Reason: "CreateContainerConfigError", Message: "env A: ConfigMap default/absent not found"},
		"secret":  {Reason: "CreateContainerConfigError", Message: `env A: Secret default/present has no key "absent"`},
		"never":   {Reason: "ErrImageNeverPull", Message: `image "absent:1" is not on this node and its pull policy is Never`},
		"command": {Reason: "RunContainerError", Message: `exec: "/does/not/exist": no such file or directory`},
	} {
		if got := r.Reasons[name]; got != want {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
	if got := r.Reasons["name"].Reason; got != "InvalidImageName" {
		t.Errorf("name: %q", got)
	}
	if r.Err == nil {
		t.Error("the result has no error")
	}
	if got := h.state(t, pod, "fine"); got != podtypes.ContainerRunning {
		t.Errorf("fine is %q: one container's fault is another's", got)
	}
	if c := h.status(t, pod).Latest("command"); c.ExitCode != 128 || c.Reason != "StartError" {
		t.Errorf("command: exit code %d, reason %q", c.ExitCode, c.Reason)
	}
}

func TestSyncBacksOffCrashes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t)
		pod := testPod("web")
		h.fake.Script("web", fake.Process{Exits: true, ExitAfter: time.Second, Exit: fake.Exit{Code: 1}})
		var waits []time.Duration
		h.mustSync(t, pod)
		for range 8 {
			time.Sleep(time.Second)
			synctest.Wait()
			r := h.mustSync(t, pod)
			waits = append(waits, r.RetryAfter)
			if r.RetryAfter > 0 {
				if got := r.Reasons["web"].Reason; got != "CrashLoopBackOff" {
					t.Errorf("reason %q", got)
				}
				time.Sleep(r.RetryAfter)
				h.mustSync(t, pod)
			}
		}
		s := time.Second
		if want := []time.Duration{0, 10 * s, 20 * s, 40 * s, 80 * s, 160 * s, 300 * s, 300 * s}; !slices.Equal(waits, want) {
			t.Errorf("waits %v, want %v", waits, want)
		}
	})
}

// An event that says the same is counted; one that gives the delay would be another
// each time.
func TestBackOffEventsSayTheSame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t)
		pod := testPod("web", "pulled")
		pod.Spec.Containers[1].Image = "registry.test/absent:1"
		h.fake.Script("web", fake.Process{Exits: true, Exit: fake.Exit{Code: 1}})
		h.fake.Faults.Add(fault.Rule{Method: "PullImage", Code: codes.NotFound, Times: 1})
		h.fake.Faults.Add(fault.Rule{Method: "PullImage", Code: codes.Unavailable})
		var waiting []string
		for range 20 {
			r := h.sync(t, pod)
			if w := r.Reasons["web"]; w.Reason == "CrashLoopBackOff" && !slices.Contains(waiting, w.Message) {
				waiting = append(waiting, w.Message)
			}
			time.Sleep(5 * time.Second)
		}
		said := h.events.messages["BackOff"]
		slices.Sort(said)
		want := []string{
			`Back-off pulling image "registry.test/absent:1"`,
			"Back-off restarting failed container web in pod web_default(uid-1)",
		}
		if got := slices.Compact(said); !slices.Equal(got, want) {
			t.Errorf("events say %q, want %q", got, want)
		}
		const rest = " restarting failed container=web pod=default/web uid=uid-1"
		if want := []string{"back-off 10s" + rest, "back-off 20s" + rest, "back-off 40s" + rest, "back-off 1m20s" + rest}; !slices.Equal(waiting, want) {
			t.Errorf("the container waits with %q, want %q", waiting, want)
		}
	})
}

func TestSyncForgetsCrashesAfterTenMinutes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t)
		pod := testPod("web")
		crash := func() time.Duration {
			h.fake.Exit(h.status(t, pod).Latest("web").ID, fake.Exit{Code: 1})
			return h.mustSync(t, pod).RetryAfter
		}
		h.mustSync(t, pod)
		crash() // restarted at once
		if wait := crash(); wait != 10*time.Second {
			t.Fatalf("second crash waits %s", wait)
		}
		time.Sleep(10 * time.Second)
		h.mustSync(t, pod)
		time.Sleep(11 * time.Minute)
		if wait := crash(); wait != 0 {
			t.Errorf("a crash after eleven minutes waits %s", wait)
		}
		if got := h.state(t, pod, "web"); got != podtypes.ContainerRunning {
			t.Errorf("web is %q", got)
		}
	})
}

func TestSyncBacksOffPulls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t)
		pod := testPod("web")
		pod.Spec.Containers[0].Image = "registry.test/absent:1"
		stop := h.fake.Faults.Add(fault.Rule{Method: "PullImage", Code: codes.NotFound})
		r := h.sync(t, pod)
		if r.Reasons["web"].Reason != "ErrImagePull" || r.RetryAfter != 10*time.Second || r.Err == nil {
			t.Fatalf("first: %+v", r)
		}
		first := r.Reasons["web"].Message
		if r = h.sync(t, pod); r.Reasons["web"].Reason != "ImagePullBackOff" || r.Err != nil {
			t.Fatalf("second: %+v", r)
		}
		if last := first[strings.LastIndex(first, ": ")+2:]; !strings.Contains(r.Reasons["web"].Message, last) {
			t.Errorf("%q lost the registry's error %q", r.Reasons["web"].Message, last)
		}
		time.Sleep(r.RetryAfter)
		if r = h.sync(t, pod); r.RetryAfter != 20*time.Second {
			t.Errorf("third: %+v", r)
		}
		stop()
		time.Sleep(r.RetryAfter)
		h.mustSync(t, pod)
		if got := h.state(t, pod, "web"); got != podtypes.ContainerRunning {
			t.Errorf("web is %q", got)
		}
	})
}

// B011: a pod whose container can never be started can be deleted.
func TestB011PodThatCannotStartIsDeleted(t *testing.T) {
	h := newHarness(t)
	pod := testPod("c")
	h.fake.Script("c", fake.Process{StartError: "exec: no such file"})
	if r := h.sync(t, pod); r.Reasons["c"].Reason != "RunContainerError" {
		t.Fatalf("reasons %v", r.Reasons)
	}
	h.mustEnd(t, pod)
}

// mustEnd kills and removes the pod, of which nothing must be left. The grace is
// short: a real process that is told to end before its first instruction, as the
// first of its PID namespace, never hears of it.
func (h *harness) mustEnd(t *testing.T, pod *corev1.Pod) {
	t.Helper()
	if err := h.KillPod(t.Context(), pod, h.status(t, pod), time.Second); err != nil {
		t.Fatal(err)
	}
	if err := h.RemovePod(t.Context(), pod.UID); err != nil {
		t.Fatal(err)
	}
	if left := h.status(t, pod); len(left.Containers)+len(left.Sandboxes) > 0 {
		t.Errorf("left: %+v", left)
	}
	if _, err := os.Stat(h.podLogDir(pod)); !os.IsNotExist(err) {
		t.Errorf("log directory: %v", err)
	}
}

// B012: what is gone counts as stopped.
func TestB012ContainersAlreadyGone(t *testing.T) {
	t.Run("removed by hand", func(t *testing.T) {
		h := newHarness(t)
		pod := testPod("a", "b")
		h.mustSync(t, pod)
		status := h.status(t, pod)
		h.fake.Lose(status.Latest("a").ID)
		if err := h.KillPod(t.Context(), pod, status, time.Minute); err != nil {
			t.Error(err)
		}
	})
	t.Run("stopped by another at the same time", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			h := newHarness(t)
			pod := testPod("a")
			h.mustSync(t, pod)
			h.fake.Faults.Add(fault.Rule{Method: "StopPodSandbox", Times: 1, Code: codes.Unknown})
			if err := h.KillPod(t.Context(), pod, h.status(t, pod), time.Minute); err != nil {
				t.Error(err)
			}
			h.fake.Faults.Add(fault.Rule{Method: "StopPodSandbox", Code: codes.Unknown})
			if err := h.KillPod(t.Context(), pod, h.status(t, pod), time.Minute); err == nil {
				t.Error("a stop that keeps failing is none")
			}
		})
	})
	t.Run("a runtime that says so", func(t *testing.T) {
		h := newHarness(t)
		pod := testPod("a")
		h.mustSync(t, pod)
		for _, method := range []string{"StopContainer", "StopPodSandbox", "RemoveContainer", "RemovePodSandbox"} {
			h.fake.Faults.Add(fault.Rule{Method: method, Code: codes.NotFound})
		}
		if err := h.KillPod(t.Context(), pod, h.status(t, pod), time.Minute); err != nil {
			t.Error(err)
		}
		if err := h.RemovePod(t.Context(), pod.UID); err != nil {
			t.Error(err)
		}
	})
}

// B015: the sync of a pod that is deleted ends, its pull too, and nothing starts.
func TestB015DeletedWhilePulling(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t)
		pod := testPod("web")
		pod.Spec.Containers[0].Image = "registry.test/slow:1"
		h.fake.Faults.Add(fault.Rule{Method: "PullImage", Delay: time.Hour})
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		start := time.Now()
		r := h.SyncPod(ctx, pod, nil, nil)
		if !errors.Is(r.Err, context.DeadlineExceeded) || time.Since(start) != 5*time.Second {
			t.Errorf("sync ended after %s with %v", time.Since(start), r.Err)
		}
		h.mustEnd(t, pod)
		time.Sleep(2 * time.Hour)
		if calls := h.fake.Calls("CreateContainer"); len(calls) > 0 {
			t.Errorf("containers were created: %v", calls)
		}
		if h.events.has("Failed spec.containers{web}") {
			t.Error("a cancelled pull was shown as failed")
		}
	})
}

// B031: a container left in Created by a passing error is started after all.
func TestB031CreatedContainerIsStarted(t *testing.T) {
	h := newHarness(t)
	pod := testPod("web")
	pod.Spec.InitContainers = []corev1.Container{testContainer("init")}
	h.fake.Script("init", fake.Process{Exits: true})
	h.fake.Faults.Add(fault.Rule{Method: "StartContainer", Times: 1, Code: codes.Unavailable})
	if r := h.sync(t, pod); r.Err == nil {
		t.Fatal("the first sync did not fail")
	}
	if got := h.state(t, pod, "init"); got != podtypes.ContainerCreated {
		t.Fatalf("init is %q", got)
	}
	h.mustSync(t, pod) // starts init
	h.mustSync(t, pod) // starts web
	if got := h.state(t, pod, "web"); got != podtypes.ContainerRunning {
		t.Errorf("web is %q", got)
	}
	if ids := h.fake.ContainerIDs("init"); len(ids) != 1 {
		t.Errorf("init containers: %v", ids)
	}
}

// B093: a sandbox without an address is made anew.
func TestB093SandboxWithoutAddress(t *testing.T) {
	h := newHarness(t)
	pod := testPod("web")
	h.mustSync(t, pod)
	before := h.status(t, pod)
	h.fake.DropAddress(before.Current().ID)
	h.mustSync(t, pod)
	after := h.status(t, pod)
	if after.Current().ID == before.Current().ID || after.Current().Attempt != 1 || len(after.Current().IPs) == 0 {
		t.Errorf("sandbox after: %+v", after.Current())
	}
	if web := after.Latest("web"); web.State != podtypes.ContainerRunning || web.SandboxID != after.Current().ID {
		t.Errorf("web after: %+v", web)
	}
	if !h.events.has("SandboxChanged") {
		t.Error("no event SandboxChanged")
	}
}

// A runtime that made the sandbox but whose reply was lost has not made two.
func TestSyncUsesSandboxWhoseReplyWasLost(t *testing.T) {
	h := newHarness(t)
	pod := testPod("web")
	for _, method := range []string{"RunPodSandbox", "CreateContainer", "StartContainer"} {
		h.fake.Faults.Add(fault.Rule{Method: method, Times: 1, DropReply: true})
	}
	for range 4 {
		h.sync(t, pod)
	}
	if ids := h.fake.SandboxIDs(); len(ids) != 1 {
		t.Errorf("sandboxes: %v", ids)
	}
	if got := h.state(t, pod, "web"); got != podtypes.ContainerRunning {
		t.Errorf("web is %q", got)
	}
	if ids := h.fake.ContainerIDs("web"); len(ids) != 1 {
		t.Errorf("containers: %v", ids)
	}
}

// A call that hangs ends by its own deadline.
func TestSyncSurvivesHungCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t)
		h.fake.Faults.Add(fault.Rule{Method: "RunPodSandbox", Times: 1, Hang: true})
		start := time.Now()
		if r := h.sync(t, testPod("web")); r.Err == nil || time.Since(start) > 3*time.Minute {
			t.Errorf("after %s: %v", time.Since(start), r.Err)
		}
		if !h.events.has("FailedCreatePodSandBox") {
			t.Error("no event FailedCreatePodSandBox")
		}
		h.mustSync(t, testPod("web"))
	})
}

// Starts in flight are limited, and pods that wait for an image hold none up.
func TestSyncLimitsStarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t)
		h.fake.Faults.Add(fault.Rule{Method: "RunPodSandbox", Delay: time.Second})
		h.fake.Faults.Add(fault.Rule{Method: "PullImage", Delay: time.Hour})
		start := time.Now()
		done := make(chan time.Duration)
		for i := range 32 {
			pod := testPod("web")
			pod.Name = fmt.Sprintf("pod-%d", i)
			pod.UID = types.UID(pod.Name)
			if i < 16 {
				pod.Spec.Containers[0].Image = "registry.test/slow:1"
			}
			go func() {
				if r := h.SyncPod(t.Context(), pod, nil, nil); r.Err != nil {
					t.Error(r.Err)
				}
				done <- time.Since(start)
			}()
		}
		for i := range 32 {
			took := <-done
			if i < 16 && took > 4*time.Second || i < 8 && took < time.Second {
				t.Errorf("pod %d to start took %s", i, took)
			}
		}
		if pulls := h.fake.Calls("PullImage"); len(pulls) != 1 {
			t.Errorf("the image was pulled %d times", len(pulls))
		}
	})
}
