// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-run/berth/agent/podtypes"
)

// switchRuntime is ready or away.
type switchRuntime struct{ ready atomic.Bool }

func (r *switchRuntime) Status(context.Context) (podtypes.RuntimeStatus, error) {
	if !r.ready.Load() {
		return podtypes.RuntimeStatus{}, errors.New("connection refused")
	}
	return podtypes.RuntimeStatus{Ready: true, NetworkReady: true}, nil
}

// events keeps what is told.
type events struct {
	mu  sync.Mutex
	all []string
}

func (e *events) RecordNode(eventType, reason, message string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.all = append(e.all, eventType+" "+reason+": "+message)
}

func (e *events) told() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.all)
}

func readyCondition(n *Node) corev1.NodeCondition {
	for _, c := range n.Node().Status.Conditions {
		if c.Type == corev1.NodeReady {
			return c
		}
	}
	return corev1.NodeCondition{}
}

func TestReadinessFollowsTheRuntime(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		source := &switchRuntime{}
		var events events
		n, err := New(Config{Name: "n1", IPs: []string{"192.0.2.7"}, MaxPods: 110, StateDir: dir, Runtime: source, Events: &events})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); n.Run(ctx) }()
		defer func() { cancel(); <-done }()

		synctest.Wait()
		<-n.Changed()
		c := readyCondition(n)
		if c.Status != corev1.ConditionFalse || c.Message != "connection refused" || n.RuntimeReady() == nil {
			t.Fatalf("without a runtime: %+v", c)
		}
		source.ready.Store(true)
		time.Sleep(time.Second)
		synctest.Wait()
		<-n.Changed()
		up := readyCondition(n)
		if up.Status != corev1.ConditionTrue || n.NetworkReady() != nil {
			t.Fatalf("with a runtime: %+v", up)
		}

		time.Sleep(time.Hour)
		synctest.Wait()
		select {
		case <-n.Changed():
			t.Error("a change was signalled without one")
		default:
		}
		if now := readyCondition(n); !now.LastTransitionTime.Equal(&up.LastTransitionTime) {
			t.Error("the transition time moved without a transition")
		}

		source.ready.Store(false)
		time.Sleep(askEvery)
		synctest.Wait()
		if got, want := events.told(), []string{
			"Normal Starting: Starting the agent",
			"Normal NodeReady: Node n1 status is now: NodeReady",
			"Warning NodeNotReady: Node n1 status is now: NodeNotReady: connection refused",
		}; !slices.Equal(got, want) {
			t.Errorf("told %q, want %q", got, want)
		}
	})
}

// What users set decides over pods, and is not repeated to the server: they may
// have removed it meanwhile.
func TestRegistrationIsTheAgentsOwn(t *testing.T) {
	n, err := New(Config{Name: "n1", StateDir: t.TempDir(), Labels: map[string]string{"disk": "ssd"}})
	if err != nil {
		t.Fatal(err)
	}
	if before := n.Node(); before.Labels["disk"] != "ssd" {
		t.Errorf("before the server was heard: labels %v", before.Labels)
	}
	n.Assign(&corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"zone": "a"}},
		Spec: corev1.NodeSpec{
			PodCIDR:       "10.128.1.0/24",
			Unschedulable: true,
			Taints:        []corev1.Taint{{Key: "k", Effect: corev1.TaintEffectNoSchedule}},
		},
	})
	if got := n.Node(); !maps.Equal(got.Labels, map[string]string{"zone": "a"}) || len(got.Spec.Taints) != 1 || !got.Spec.Unschedulable {
		t.Errorf("as it stands: labels %v, spec %+v", got.Labels, got.Spec)
	}
	own := n.Registration()
	want := map[string]string{
		"disk": "ssd", corev1.LabelHostname: "n1", corev1.LabelOSStable: runtime.GOOS, corev1.LabelArchStable: runtime.GOARCH,
	}
	if !maps.Equal(own.Labels, want) || len(own.Spec.Taints) != 0 || own.Spec.Unschedulable {
		t.Errorf("registration: labels %v, spec %+v", own.Labels, own.Spec)
	}
	if own.Spec.PodCIDR != "10.128.1.0/24" {
		t.Errorf("its pods' range is not told: %+v", own.Spec)
	}
	if own.Status.Capacity.Memory().IsZero() || own.Status.Capacity.Cpu().IsZero() {
		t.Errorf("capacity %v", own.Status.Capacity)
	}
}

func TestMemTotal(t *testing.T) {
	path := filepath.Join(t.TempDir(), "meminfo")
	for text, want := range map[string]int64{
		"MemTotal:       2048 kB\nMemFree: 1 kB\n": 2 << 20,
		"MemFree: 1 kB\n":                          0,
		"MemTotal: x kB\n":                         0,
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := memTotal(path)
		if got != want || (err == nil) != (want != 0) {
			t.Errorf("%q: %d, %v", text, got, err)
		}
	}
}
