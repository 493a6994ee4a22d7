// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podruntime

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-run/berth/agent/cri/fake"
	"github.com/berth-run/berth/agent/cri/fault"
)

// crowd starts so many pods.
func (h *harness) crowd(t *testing.T, pods int) []*corev1.Pod {
	t.Helper()
	var all []*corev1.Pod
	for i := range pods {
		pod := testPod("web")
		pod.UID = types.UID(fmt.Sprintf("uid-%d", i))
		h.mustSync(t, pod)
		all = append(all, pod)
	}
	return all
}

// end kills and removes all the pods at the same time and returns how long it took.
func (h *harness) end(t *testing.T, pods []*corev1.Pod, grace time.Duration) time.Duration {
	t.Helper()
	begin := time.Now()
	var ends sync.WaitGroup
	for _, pod := range pods {
		status := h.status(t, pod)
		ends.Go(func() {
			if err := h.KillPod(t.Context(), pod, status, grace); err != nil {
				t.Error(err)
			}
			if err := h.RemovePod(t.Context(), pod.UID); err != nil {
				t.Error(err)
			}
		})
	}
	ends.Wait()
	return time.Since(begin)
}

func TestSoManyEndAtOnce(t *testing.T) {
	for _, method := range []string{"StopContainer", "StopPodSandbox", "RemoveContainer", "RemovePodSandbox"} {
		t.Run(method, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHarness(t)
				pods := h.crowd(t, 3*maxEnds)
				const takes = promptEnd / 2
				h.fake.Faults.Add(fault.Rule{Method: method, Delay: takes})
				if took := h.end(t, pods, time.Minute); took != 3*takes {
					t.Errorf("took %s, want %s", took, 3*takes)
				}
			})
		})
	}
}

// All hear of their end soon, however long the first ones take over theirs.
func TestAGracePeriodHoldsNoPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t)
		h.fake.Script("web", fake.Process{IgnoreTerm: true})
		pods := h.crowd(t, 3*maxEnds)
		if took, want := h.end(t, pods, time.Minute), time.Minute+2*promptEnd; took != want {
			t.Errorf("took %s, want %s", took, want)
		}
	})
}

func TestWhatHangsHoldsNoPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t)
		pods := h.crowd(t, maxEnds+1)
		h.fake.Faults.Add(fault.Rule{Method: "StopPodSandbox", Times: maxEnds, Delay: time.Minute})
		var hung sync.WaitGroup
		defer hung.Wait()
		hung.Go(func() { h.end(t, pods[1:], 0) })
		synctest.Wait()
		if took := h.end(t, pods[:1], 0); took != workingCall {
			t.Errorf("took %s, want %s", took, workingCall)
		}
	})
}

func TestEndsHoldUpNoStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t)
		pods := h.crowd(t, 3*maxEnds)
		h.fake.Faults.Add(fault.Rule{Method: "StopPodSandbox", Delay: workingCall})
		var ends sync.WaitGroup
		defer ends.Wait()
		ends.Go(func() { h.end(t, pods, 0) })
		synctest.Wait()
		begin := time.Now()
		h.mustSync(t, testPod("new"))
		if took := time.Since(begin); took != 0 {
			t.Errorf("a start waited for %s", took)
		}
	})
}
