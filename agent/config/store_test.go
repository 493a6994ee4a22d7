// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-run/berth/agent/podtypes"
)

// of makes the update one of a store that the node's pods are not of.
func of(store string, u podtypes.PodUpdate) podtypes.PodUpdate {
	u.Store = store
	return u
}

func TestPodsOfAnotherStoreTakeNoNames(t *testing.T) {
	own := say(podtypes.ADD, "s", newPod("a", "1"))
	tests := map[string]struct {
		before  []podtypes.PodUpdate
		say     podtypes.PodUpdate
		want    []string
		refused int
	}{
		"a name that is taken": {[]podtypes.PodUpdate{own},
			of("B", say(podtypes.ADD, "s", newPod("a", "2"))), []string{}, 1},
		"a name that is free": {[]podtypes.PodUpdate{own},
			of("B", say(podtypes.ADD, "s", newPod("b", "2"))), []string{"ADD s b/2"}, 0},
		"the same UID": {[]podtypes.PodUpdate{own},
			of("B", say(podtypes.UPDATE, "s", newPod("a", "1", deleted(30)))), []string{"DELETE s a/1"}, 0},
		"one that waits is deleted": {[]podtypes.PodUpdate{own, of("B", say(podtypes.ADD, "s", newPod("a", "2")))},
			of("B", say(podtypes.DELETE, "s", newPod("a", "2", deleted(30)))), []string{"REMOVE s a/2"}, 0},
		"one that waits is removed": {[]podtypes.PodUpdate{own, of("B", say(podtypes.ADD, "s", newPod("a", "2")))},
			of("B", say(podtypes.REMOVE, "s", newPod("a", "2"))), []string{}, 0},
		"a successor in the other store": {[]podtypes.PodUpdate{of("B", say(podtypes.ADD, "s", newPod("a", "2")))},
			of("B", say(podtypes.ADD, "s", newPod("a", "3"))), []string{"REMOVE s a/2", "ADD s a/3"}, 0},
		"a third store": {[]podtypes.PodUpdate{of("B", say(podtypes.ADD, "s", newPod("a", "2")))},
			of("C", say(podtypes.ADD, "s", newPod("a", "3"))), []string{}, 1},
		"the other store is adopted": {[]podtypes.PodUpdate{own, of("B", say(podtypes.ADD, "s", newPod("a", "2")))},
			say(podtypes.ADD, "s", newPod("a", "2")), []string{"REMOVE s a/1", "ADD s a/2"}, 0},
		"the own store is back": {[]podtypes.PodUpdate{of("B", say(podtypes.ADD, "s", newPod("a", "2")))},
			own, []string{"REMOVE s a/2", "ADD s a/1"}, 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := newStorage()
			s.declare("s")
			mergeAll(t, s, test.before, test.say, test.want, test.refused)
			for uid := range s.stores {
				if !slices.ContainsFunc(s.pods("s"), func(p *corev1.Pod) bool { return p.UID == uid }) {
					t.Errorf("the store of pod %s is kept, which is not held", uid)
				}
			}
		})
	}
}

func TestNameTakenByAPodOfAnotherStoreIsTold(t *testing.T) {
	run(t, func(t *testing.T, m *Mux, r *recorder) {
		m.Source("server") <- say(podtypes.ADD, "", newPod("a", "1"))
		<-m.Updates()
		m.Source("server") <- of("B", say(podtypes.ADD, "", newPod("a", "2")))
		synctest.Wait()
		if len(r.messages) != 1 || !strings.HasSuffix(r.messages[0], "is taken by a pod of another store") {
			t.Errorf("events %q", r.messages)
		}
		if held := m.Pods("server"); len(held) != 1 || held[0].UID != "1" {
			t.Errorf("the inventory is %v", held)
		}
	})
}
