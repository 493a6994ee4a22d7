// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podruntime

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/protobuf/proto"
	corev1 "k8s.io/api/core/v1"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/berth-run/berth/agent/cri/fake"
	"github.com/berth-run/berth/agent/cri/fault"
)

func TestTerminationOrder(t *testing.T) {
	pod := testPod("a", "b")
	for _, name := range []string{"s", "i", "t"} {
		pod.Spec.InitContainers = append(pod.Spec.InitContainers, testInit(name))
	}
	pod.Spec.EphemeralContainers = []corev1.EphemeralContainer{testEphemeral("e")}
	for name, tc := range map[string]struct {
		pod     *corev1.Pod
		running string
		want    string // turns, and what is aside in parentheses
	}{
		"regular ones, then sidecars in reverse": {pod, "s t a b", "ab t s ()"},
		"an init container is waited for":        {pod, "s i", "i s ()"},
		"what does not run is not waited for":    {pod, "s", "s ()"},
		"an ephemeral container is not":          {pod, "s a e", "a s (e)"},
		"a container that the pod lost":          {pod, "s x", "x s ()"},
		"two of one name":                        {pod, "s s a", "a ss ()"},
		"an orphan's":                            {nil, "s a", "(sa)"},
	} {
		t.Run(name, func(t *testing.T) {
			var kill []containerToKill
			for _, name := range strings.Fields(tc.running) {
				kill = append(kill, containerToKill{Name: name})
			}
			o := terminationOrder(tc.pod, kill)
			var got []string
			for _, turn := range o.turns {
				got = append(got, names(turn))
			}
			got = append(got, "("+names(o.aside)+")")
			if got := strings.Join(got, " "); got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
}

func names(kill []containerToKill) (all string) {
	for _, k := range kill {
		all += k.Name
	}
	return all
}

// Each sidecar is stopped when its turn comes, or when the grace is over.
func TestKillPodStopsSidecarsLast(t *testing.T) {
	for name, tc := range map[string]struct {
		sidecars []string
		stubborn string // container that heeds no signal
		want     []string
	}{
		"in turn":                      {sidecars: []string{"s", "t"}, want: []string{"0s a 10", "0s t 10", "0s s 10"}},
		"after the app's grace":        {sidecars: []string{"s"}, stubborn: "a", want: []string{"0s a 10", "10s s 2"}},
		"what is left after a sidecar": {sidecars: []string{"s", "t"}, stubborn: "t", want: []string{"0s a 10", "0s t 10", "10s s 2"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHarness(t)
				pod := testPod("a")
				for _, name := range tc.sidecars {
					pod.Spec.InitContainers = append(pod.Spec.InitContainers, testInit(name))
				}
				h.fake.Script(tc.stubborn, fake.Process{IgnoreTerm: true})
				h.mustSync(t, pod)
				status := h.status(t, pod)
				names := map[string]string{}
				for _, c := range status.Containers {
					names[c.ID] = c.Name
				}
				began := time.Now()
				var got []string
				h.fake.Faults.Add(fault.Rule{Method: "StopContainer", Match: func(request proto.Message) bool {
					stop := request.(*runtimeapi.StopContainerRequest)
					got = append(got, fmt.Sprintf("%s %s %d", time.Since(began), names[stop.GetContainerId()], stop.GetTimeout()))
					return false
				}})
				if err := h.KillPod(t.Context(), pod, status, 10*time.Second); err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(got, tc.want) {
					t.Errorf("stops %q, want %q", got, tc.want)
				}
			})
		})
	}
}
