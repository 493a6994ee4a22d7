// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package session

import (
	"testing"
	"testing/synctest"
	"time"
)

// Of two agents that were given one node name, one runs the node's pods. The other
// gets in as soon as the first one has gone.
func TestTwoAgentsOfOneName(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t)
		first := newAgent(t, s)
		pod := s.createPod("p")
		time.Sleep(time.Second)
		twin := newAgentOf(t, "id-2", s.dialOptions())
		time.Sleep(time.Hour)
		synctest.Wait()
		if !first.session.Connected() || twin.session.Connected() {
			t.Errorf("connected: the first %v, its twin %v", first.session.Connected(), twin.session.Connected())
		}
		if held := twin.holds(); len(held) > 0 {
			t.Errorf("the twin has pods %v", held)
		}
		first.stop()
		time.Sleep(5 * time.Second)
		synctest.Wait()
		if !twin.session.Connected() || twin.holds()[pod.UID] == "" {
			t.Error("the twin did not get in when the first one had gone")
		}
	})
}

// An agent that comes back while the server still has its older session gets in at
// once.
func TestAgentThatRestarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t)
		newAgent(t, s)
		time.Sleep(time.Second)
		restarted := newAgent(t, s)
		time.Sleep(100 * time.Millisecond)
		synctest.Wait()
		if !restarted.session.Connected() {
			t.Error("not connected")
		}
	})
}
