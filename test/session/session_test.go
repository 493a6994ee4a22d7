// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package session

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/berth-run/berth/agent/podtypes"
	"github.com/berth-run/berth/api"
)

func TestPodFromCreationToItsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t)
		a := newAgent(t, s)
		expect := func(op podtypes.Op) *corev1.Pod {
			t.Helper()
			u := <-a.updates
			if u.Op != op || len(u.Pods) != 1 {
				t.Fatalf("%v of %d pods, want %v", u.Op, len(u.Pods), op)
			}
			return u.Pods[0]
		}
		s.createPod("p")
		pod := expect(podtypes.ADD)

		a.statuses.SetPodStatus(pod, corev1.PodStatus{Phase: corev1.PodRunning, PodIP: "10.0.0.7"})
		pod = expect(podtypes.RECONCILE)
		if pod.Status.Phase != corev1.PodRunning {
			t.Errorf("phase %s", pod.Status.Phase)
		}
		s.deletePod("p", 30)
		pod = expect(podtypes.DELETE)
		a.statuses.TerminatePod(pod)
		for u := range a.updates {
			if u.Op == podtypes.REMOVE {
				break
			}
		}
		if _, err := s.registry.Get(t.Context(), api.Pods, "default", "p"); !apierrors.IsNotFound(err) {
			t.Errorf("the record is still there: %v", err)
		}
		if !a.mux.Ready(podtypes.ServerSource) {
			t.Error("the server's source is not ready")
		}
	})
}

// Connections that break again and again in the middle of the set of 1,000 pods,
// while pods come and go, end in the right set, and remove nothing that exists.
func TestReconnectInTheMiddleOfASet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t)
		for i := range 1000 {
			s.createPod(fmt.Sprintf("p%d", i))
		}
		s.setCutAfter(60 << 10)
		a := newAgent(t, s)
		for i := range 40 {
			time.Sleep(time.Second)
			s.deletePod(fmt.Sprintf("p%d", i), 0)
			s.createPod(fmt.Sprintf("later%d", i))
		}
		s.setCutAfter(0)
		time.Sleep(time.Minute)
		synctest.Wait()
		if why := a.differs(s); why != "" {
			t.Error(why)
		}
		for uid := range a.holds() {
			if a.removed[uid] {
				t.Errorf("pod %s was removed and came again", uid)
			}
		}
	})
}

// Whatever happens while the agent is away, one set makes it right.
func TestServerAwayAndBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t)
		a := newAgent(t, s)
		for _, name := range []string{"kept", "gone", "replaced"} {
			s.createPod(name)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		before := len(a.holds())

		s.halt()
		s.deletePod("gone", 0)
		s.deletePod("replaced", 0)
		s.createPod("replaced")
		s.createPod("new")
		time.Sleep(time.Hour)
		synctest.Wait()
		if n := len(a.holds()); n != before {
			t.Errorf("without a server the node has %d pods, it had %d", n, before)
		}
		if a.session.Connected() {
			t.Error("connected to a server that is not there")
		}
		s.start()
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if why := a.differs(s); why != "" {
			t.Error(why)
		}
		if len(a.removed) != 2 {
			t.Errorf("%d pods removed, want 2", len(a.removed))
		}
	})
}

// A status that the agent sets while the server is away arrives.
func TestStatusOutlivesTheServersAbsence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t)
		a := newAgent(t, s)
		s.createPod("p")
		pod := (<-a.updates).Pods[0]
		s.halt()
		a.statuses.SetPodStatus(pod, corev1.PodStatus{Phase: corev1.PodRunning})
		time.Sleep(time.Hour)
		s.start()
		time.Sleep(10 * time.Second)
		synctest.Wait()
		obj, err := s.registry.Get(t.Context(), api.Pods, "default", "p")
		if err != nil || obj.(*corev1.Pod).Status.Phase != corev1.PodRunning {
			t.Errorf("pod %v, %v", obj, err)
		}
	})
}

// BenchmarkCreateToADD measures from a pod's creation, its commit included, to
// its ADD in the sync loop, and what of it the commit takes.
func BenchmarkCreateToADD(b *testing.B) {
	s := newServer(b)
	a := newAgent(b, s)
	for !a.mux.Ready(podtypes.ServerSource) {
		time.Sleep(time.Millisecond)
	}
	var whole, commit []time.Duration
	for i := range b.N {
		began := time.Now()
		s.createPod(fmt.Sprintf("p%d", i))
		commit = append(commit, time.Since(began))
		<-a.updates
		whole = append(whole, time.Since(began))
	}
	b.ReportMetric(median(whole), "µs-to-ADD")
	b.ReportMetric(median(commit), "µs-commit")
}

// BenchmarkStatusToStored measures from a status on the agent to its watchers.
func BenchmarkStatusToStored(b *testing.B) {
	s := newServer(b)
	a := newAgent(b, s)
	s.createPod("p")
	pod := (<-a.updates).Pods[0]
	var whole []time.Duration
	for i := range b.N {
		began := time.Now()
		a.statuses.SetPodStatus(pod, corev1.PodStatus{Phase: corev1.PodRunning, Message: fmt.Sprint(i)})
		<-a.updates // its RECONCILE
		whole = append(whole, time.Since(began))
	}
	b.ReportMetric(median(whole), "µs-to-RECONCILE")
}

func median(d []time.Duration) float64 {
	slices.Sort(d)
	return float64(d[len(d)/2]) / float64(time.Microsecond)
}
