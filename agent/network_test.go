// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-run/berth/agent/podtypes"
)

// setUps is a network that notes what it sets up, and a runtime that has it or not.
type setUps struct {
	*network
	ready bool

	mu  sync.Mutex
	all []string
	err error
}

func (s *setUps) Status(context.Context) (podtypes.RuntimeStatus, error) {
	return podtypes.RuntimeStatus{Ready: true, NetworkReady: s.ready}, nil
}

// ask has the runtime asked for its status, as the node does.
func (s *setUps) ask(t *testing.T) {
	t.Helper()
	if _, err := (watched{s, s.network}).Status(t.Context()); err != nil {
		t.Fatal(err)
	}
	synctest.Wait()
}

func (s *setUps) expect(t *testing.T, when string, want ...string) {
	t.Helper()
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Equal(s.all, want) {
		t.Errorf("%s: set up %v, want %v", when, s.all, want)
	}
	s.all = nil
}

func (s *setUps) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err = err
}

func (s *setUps) give(podCIDR string) {
	s.assign(&corev1.Node{Spec: corev1.NodeSpec{PodCIDR: podCIDR}})
	synctest.Wait()
}

func withNetwork(t *testing.T, own bool, f func(t *testing.T, s *setUps)) {
	synctest.Test(t, func(t *testing.T) {
		a := &Agent{log: slog.New(slog.DiscardHandler)}
		s := &setUps{ready: true}
		s.network = a.newNetwork(func(_ context.Context, podCIDR string) error {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.all = append(s.all, podCIDR)
			return s.err
		})
		s.own = own
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- s.run(ctx) }()
		f(t, s)
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

func TestNetworkIsSetUpForEachNewRange(t *testing.T) {
	withNetwork(t, false, func(t *testing.T, s *setUps) {
		s.give("10.1.0.0/24")
		s.give("10.1.0.0/24")
		s.give("10.2.0.0/24")
		s.expect(t, "two ranges", "10.1.0.0/24", "10.2.0.0/24")
		s.fail(errors.New("locked"))
		s.give("10.3.0.0/24")
		time.Sleep(networkRetry)
		s.expect(t, "a failure", "10.3.0.0/24", "10.3.0.0/24")
		s.fail(nil)
		time.Sleep(networkRetry)
		s.expect(t, "the last try", "10.3.0.0/24")
		s.ready = false
		s.ask(t)
		time.Sleep(time.Hour)
		s.expect(t, "the network of another")
	})
}

func TestOwnNetworkIsKept(t *testing.T) {
	withNetwork(t, true, func(t *testing.T, s *setUps) {
		s.ready = false
		s.ask(t)
		s.expect(t, "no range yet")
		s.give("10.1.0.0/24")
		s.ask(t)
		s.expect(t, "the runtime has not noticed yet", "10.1.0.0/24")
		s.ready = true
		s.ask(t)
		time.Sleep(networkCheck - time.Second)
		s.expect(t, "the runtime has it")
		time.Sleep(time.Second)
		s.expect(t, "the check", "10.1.0.0/24")
		time.Sleep(networkRepair)
		s.ready = false
		s.ask(t)
		s.expect(t, "it was lost", "10.1.0.0/24")
		for range 10 {
			time.Sleep(networkRepair / 5)
			s.ask(t)
		}
		s.expect(t, "it stays away", "10.1.0.0/24", "10.1.0.0/24")
	})
}
