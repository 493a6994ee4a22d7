// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podruntime

import (
	"errors"
	"slices"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	corev1 "k8s.io/api/core/v1"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/berth-run/berth/agent/cri/fault"
	"github.com/berth-run/berth/agent/podtypes"
)

// Of a runtime's DeadlineExceeded the command is the cause; another error says nothing
// of it.
func TestB056RunInContainer(t *testing.T) {
	h := newHarness(t)
	pod := testPod("web")
	h.mustSync(t, pod)
	c, id := &pod.Spec.Containers[0], h.status(t, pod).Latest("web").ID
	run := func() error {
		_, err := h.RunInContainer(t.Context(), pod, c, id, []string{"check", "it"}, 3*time.Second)
		return err
	}
	if err := run(); err != nil {
		t.Fatal(err)
	}
	h.fake.Faults.Add(fault.Rule{Method: "ExecSync", Code: codes.DeadlineExceeded, Times: 1})
	err := run()
	if want := `command timed out: "check it" timed out after 3s`; !errors.Is(err, podtypes.ErrTimedOut) || err.Error() != want {
		t.Errorf("DeadlineExceeded is %q, want %q", err, want)
	}
	h.fake.Faults.Add(fault.Rule{Method: "ExecSync", Code: codes.Unavailable, Times: 1})
	var exit *podtypes.ExitError
	if err := run(); err == nil || errors.Is(err, podtypes.ErrTimedOut) || errors.As(err, &exit) {
		t.Errorf("Unavailable is %v", err)
	}
}

func TestRunInContainerExpandsWhatIsStatic(t *testing.T) {
	h := newHarness(t)
	pod := testPod("web")
	h.mustSync(t, pod)
	c := pod.Spec.Containers[0].DeepCopy()
	c.Env = []corev1.EnvVar{{Name: "A", Value: "1"}, {Name: "B", ValueFrom: &corev1.EnvVarSource{}}}
	if _, err := h.RunInContainer(t.Context(), pod, c, h.status(t, pod).Latest("web").ID, []string{"x", "$(A)$(B)"}, time.Second); err != nil {
		t.Fatal(err)
	}
	calls := h.fake.Calls("ExecSync")
	request := calls[len(calls)-1].Request.(*runtimeapi.ExecSyncRequest)
	if got := request.GetCmd(); !slices.Equal(got, []string{"x", "1$(B)"}) || request.GetTimeout() != 1 {
		t.Errorf("ran %q within %d s", got, request.GetTimeout())
	}
}
