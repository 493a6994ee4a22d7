// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package pleg

import (
	"errors"
	"testing"
	"time"

	"github.com/berth-run/berth/agent/podtypes"
)

func TestIsNews(t *testing.T) {
	known := &podtypes.PodStatus{
		UID: "p",
		Sandboxes: []podtypes.SandboxStatus{
			{Sandbox: podtypes.Sandbox{ID: "sandbox", Ready: true}, IPs: []string{"192.0.2.1"}},
			{Sandbox: podtypes.Sandbox{ID: "no-address", Ready: true}},
			{Sandbox: podtypes.Sandbox{ID: "stopped"}},
		},
		Containers: []podtypes.ContainerStatus{
			{Container: podtypes.Container{ID: "created", State: podtypes.ContainerCreated}},
			{Container: podtypes.Container{ID: "running", State: podtypes.ContainerRunning}},
			{Container: podtypes.Container{ID: "exited", State: podtypes.ContainerExited}},
			{Container: podtypes.Container{ID: "unknown", State: podtypes.ContainerUnknown}},
		},
	}
	hint := func(id string, state podtypes.ContainerState) podtypes.Hint {
		return podtypes.Hint{UID: "p", ID: id, State: state}
	}
	removed := func(id string) podtypes.Hint { return podtypes.Hint{UID: "p", ID: id, Removed: true} }
	c := newCache()
	c.set("p", known, time.Now())
	for _, tc := range []struct {
		hint podtypes.Hint
		want bool
	}{
		{hint("created", podtypes.ContainerCreated), false},
		{hint("created", podtypes.ContainerRunning), true},
		{hint("running", podtypes.ContainerCreated), false},
		{hint("running", podtypes.ContainerRunning), false},
		{hint("running", podtypes.ContainerExited), true},
		{hint("running", podtypes.ContainerUnknown), true},
		{hint("exited", podtypes.ContainerRunning), false},
		{hint("exited", podtypes.ContainerExited), false},
		{hint("unknown", podtypes.ContainerRunning), true},
		{hint("new", podtypes.ContainerCreated), true},
		{removed("exited"), true},
		{removed("gone"), false},
		{hint("sandbox", podtypes.ContainerCreated), false},
		{hint("sandbox", podtypes.ContainerRunning), false},
		{hint("sandbox", podtypes.ContainerExited), true},
		{hint("no-address", podtypes.ContainerRunning), true},
		{hint("stopped", podtypes.ContainerExited), false},
		{removed("sandbox"), true},
		{podtypes.Hint{UID: "q", ID: "running", State: podtypes.ContainerRunning}, true},
	} {
		if got := c.isNews(tc.hint); got != tc.want {
			t.Errorf("%+v: %t", tc.hint, got)
		}
	}
	c.fail("p", errors.New("hung"), time.Now())
	if !c.isNews(hint("running", podtypes.ContainerRunning)) {
		t.Error("after a reading that failed a hint is no news")
	}
}
