// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podruntime

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/codes"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/berth-run/berth/agent/cri/fake"
	"github.com/berth-run/berth/agent/cri/fault"
	"github.com/berth-run/berth/agent/podtypes"
)

func execHook(command ...string) *corev1.LifecycleHandler {
	return &corev1.LifecycleHandler{Exec: &corev1.ExecAction{Command: command}}
}

func podWithHooks(postStart, preStop *corev1.LifecycleHandler) *corev1.Pod {
	pod := testPod("web")
	pod.Spec.Containers[0].Lifecycle = &corev1.Lifecycle{PostStart: postStart, PreStop: preStop}
	return pod
}

func TestPostStartRunsBeforeTheNextContainerStarts(t *testing.T) {
	h := newHarness(t)
	pod := podWithHooks(execHook("touch", "/ok"), nil)
	pod.Spec.Containers = append(pod.Spec.Containers, testContainer("log"))
	h.mustSync(t, pod)
	var calls []string
	for _, c := range h.fake.Calls("StartContainer", "ExecSync") {
		calls = append(calls, c.Method)
	}
	if got := strings.Join(calls, " "); got != "StartContainer ExecSync StartContainer" {
		t.Errorf("calls: %s", got)
	}
}

func TestPostStartThatFailsStopsTheContainer(t *testing.T) {
	h := newHarness(t)
	h.fake.ScriptExec("web", fake.Command{Exit: 3, Stdout: "no\n"})
	pod := podWithHooks(execHook("check"), nil)
	r := h.sync(t, pod)
	const message = `The postStart hook of container web failed: command "check" exited with 3: no`
	if want := (podtypes.WaitingReason{Reason: "PostStartHookError", Message: message}); r.Reasons["web"] != want || r.Err == nil {
		t.Errorf("got %+v, %v", r.Reasons["web"], r.Err)
	}
	if got := h.state(t, pod, "web"); got != podtypes.ContainerExited {
		t.Errorf("web is %s", got)
	}
	for _, event := range []string{"FailedPostStartHook spec.containers{web}", "Killing spec.containers{web}"} {
		if !h.events.has(event) {
			t.Errorf("no event %s in %q", event, h.events.all)
		}
	}
}

// The hook may have done all that it should when the runtime goes away.
func TestPostStartWhoseAnswerIsLostStopsNothing(t *testing.T) {
	h := newHarness(t)
	h.fake.Faults.Add(fault.Rule{Method: "ExecSync", Code: codes.Unavailable, Times: 1})
	pod := podWithHooks(execHook("check"), nil)
	if r := h.sync(t, pod); r.Err == nil {
		t.Error("the sync succeeded")
	}
	h.mustSync(t, pod)
	if got := h.state(t, pod, "web"); got != podtypes.ContainerRunning {
		t.Errorf("web is %s", got)
	}
	if h.events.has("FailedPostStartHook spec.containers{web}") || h.events.has("Killing spec.containers{web}") {
		t.Errorf("events %q", h.events.all)
	}
}

// A pod that is deleted waits for no hook, and nobody is told that one failed.
func TestPostStartEndsWithTheSync(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t)
		h.fake.ScriptExec("web", fake.Command{Takes: time.Hour})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		pod := podWithHooks(execHook("sleep"), nil)
		h.SyncPod(ctx, pod, h.status(t, pod), nil)
		if h.events.has("FailedPostStartHook spec.containers{web}") || h.state(t, pod, "web") != podtypes.ContainerRunning {
			t.Errorf("events %q", h.events.all)
		}
	})
}

// Other pods start while a hook runs.
func TestPostStartHoldsNoPlaceAmongTheStarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t)
		h.fake.ScriptExec("web", fake.Command{Takes: time.Hour})
		ctx, cancel := context.WithCancel(t.Context())
		for range defaultMaxStarts {
			go h.SyncPod(ctx, podWithHooks(execHook("sleep"), nil), nil, nil)
		}
		synctest.Wait()
		other := testPod("other")
		other.UID = "uid-2"
		h.mustSync(t, other)
		cancel()
	})
}

func TestPreStopCountsAgainstTheGrace(t *testing.T) {
	sleep := func(seconds int64) *corev1.LifecycleHandler {
		return &corev1.LifecycleHandler{Sleep: &corev1.SleepAction{Seconds: seconds}}
	}
	for name, tc := range map[string]struct {
		preStop *corev1.LifecycleHandler
		exec    fake.Command
		grace   time.Duration
		left    int64 // of the grace, for the stop
		event   string
	}{
		"no hook":       {grace: 30 * time.Second, left: 30},
		"in time":       {preStop: sleep(10), grace: 30 * time.Second, left: 20},
		"barely":        {preStop: sleep(29), grace: 30 * time.Second, left: 2},
		"without grace": {preStop: sleep(10), left: 0},
		"a short grace": {preStop: sleep(10), grace: time.Second, left: 1,
			event: "The preStop hook of container web ran out of time: it was cut off after the grace period of 1s"},
		"B019: cut off": {preStop: execHook("sleep", "30"), exec: fake.Command{Takes: 30 * time.Second}, grace: 3 * time.Second, left: 2,
			event: "The preStop hook of container web ran out of time: it was cut off after the grace period of 3s"},
		"failed": {preStop: execHook("drain", "now"), exec: fake.Command{Exit: 1, Stdout: "why"}, grace: 30 * time.Second, left: 30,
			event: `The preStop hook of container web failed: command "drain now" exited with 1: why`},
		"tcpSocket": {preStop: &corev1.LifecycleHandler{TCPSocket: &corev1.TCPSocketAction{}}, grace: 30 * time.Second, left: 30,
			event: "The preStop hook of container web failed: a hook has to be one of exec, httpGet and sleep"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHarness(t)
				h.fake.ScriptExec("web", tc.exec)
				pod := podWithHooks(nil, tc.preStop)
				h.mustSync(t, pod)
				if err := h.KillPod(t.Context(), pod, h.status(t, pod), tc.grace); err != nil {
					t.Fatal(err)
				}
				stops := h.fake.Calls("StopContainer")
				if got := stops[0].Request.(*runtimeapi.StopContainerRequest).GetTimeout(); got != tc.left {
					t.Errorf("the stop has %d s, want %d", got, tc.left)
				}
				if got := strings.Join(h.events.messages["FailedPreStopHook"], "; "); got != tc.event {
					t.Errorf("event %q, want %q", got, tc.event)
				}
			})
		})
	}
}

func TestHTTPHook(t *testing.T) {
	asked := make(chan *http.Request, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- r
		w.WriteHeader(http.StatusInternalServerError)
	}))
	defer server.Close()
	u, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	address := netip.MustParseAddrPort(u.Host)
	spec := testContainer("web")
	spec.Ports = []corev1.ContainerPort{{Name: "admin", ContainerPort: int32(address.Port())}}
	hook := &corev1.LifecycleHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/bye", Port: intstr.FromString("admin")}}
	h := newHarness(t)
	if err := h.runHook(t.Context(), hooked{spec: &spec, podIPs: []string{address.Addr().String()}}, hook); err != nil {
		t.Error(err)
	}
	if r := <-asked; r.URL.Path != "/bye" || r.UserAgent() != hookAgent {
		t.Errorf("asked for %s by %s", r.URL, r.UserAgent())
	}
	server.Close()
	if err := h.runHook(t.Context(), hooked{spec: &spec, podIPs: []string{address.Addr().String()}}, hook); err == nil {
		t.Error("a hook that nobody answered has succeeded")
	}
}
