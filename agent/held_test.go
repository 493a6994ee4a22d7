// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/berth-run/berth/agent/podtypes"
)

// startCalls are those that a pod cannot start without.
var startCalls = []string{"RunPodSandbox", "CreateContainer", "StartContainer"}

// held is a pod that was deleted and whose record finalizers hold.
func held(phase corev1.PodPhase) *corev1.Pod {
	pod := newPod("pod", "web")
	pod.Finalizers = []string{"example.com/hold"}
	pod.DeletionTimestamp = ptr.To(metav1.Now())
	pod.DeletionGracePeriodSeconds = ptr.To(int64(0))
	pod.Status.Phase = phase
	return pod
}

// say has a source say something of a pod, and returns when all is at rest.
func (p *pipeline) say(op podtypes.Op, pod *corev1.Pod) {
	p.updates <- podtypes.PodUpdate{Op: op, Source: podtypes.ServerSource, Pods: []*corev1.Pod{pod}}
	time.Sleep(5 * time.Second)
	synctest.Wait()
}

func (p *pipeline) wantNoStart(t *testing.T, when string) {
	t.Helper()
	calls := p.calls()
	for _, method := range startCalls {
		if calls[method] > 0 {
			t.Errorf("%s: %d %s", when, calls[method], method)
		}
	}
}

// wantTerminated checks that the pod's end is reported, and acknowledges it.
func (p *pipeline) wantTerminated(t *testing.T, when string) {
	t.Helper()
	reports := p.statuses.Dirty()
	if len(reports) != 1 || !reports[0].Terminated {
		t.Fatalf("%s: reports %+v", when, reports)
	}
	p.statuses.Ack(reports[0].UID, reports[0].Version)
}

// The record of a pod may stay after its end for as long as finalizers hold it.
func TestPodThatEndedIsNotStartedForItsRecord(t *testing.T) {
	withPipeline(t, func(t *testing.T, p *pipeline) {
		pod := newPod("pod", "web")
		p.add(t, pod)
		p.calls()
		deleted := held(corev1.PodRunning)
		deleted.DeletionGracePeriodSeconds = ptr.To(int64(1))
		p.say(podtypes.DELETE, deleted)
		p.wantTerminated(t, "deleted")

		p.say(podtypes.DELETE, held(corev1.PodSucceeded)) // what the server makes of that report
		p.wantTerminated(t, "held")
		labelled := held(corev1.PodSucceeded)
		labelled.Labels = map[string]string{"a": "b"}
		p.say(podtypes.UPDATE, labelled)
		time.Sleep(time.Hour)
		p.wantNoStart(t, "after its end")
		p.say(podtypes.REMOVE, labelled)
		p.wantNoStart(t, "removed")
	})
}

// An agent that comes back finds the record, and nothing in the runtime.
func TestReturningAgentStartsNoPodThatEnded(t *testing.T) {
	for _, phase := range []corev1.PodPhase{corev1.PodSucceeded, corev1.PodRunning} {
		withPipeline(t, func(t *testing.T, p *pipeline) {
			p.calls()
			p.say(podtypes.ADD, held(phase))
			p.wantTerminated(t, string(phase))
			time.Sleep(time.Hour)
			p.wantNoStart(t, string(phase))
		})
	}
}
