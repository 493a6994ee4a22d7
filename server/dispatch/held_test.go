// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package dispatch

import (
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/berth-run/berth/api"
)

// A record that finalizers hold outlives its pod: agents are told that it is being
// deleted for as long as it stays, and that it is gone when it goes.
func TestHeldRecordStaysBeingDeleted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		pod := newPod("p", "n1")
		pod.Finalizers = []string{"example.com/hold"}
		agent, _ := w.connect("n1")
		pod = w.createPod(pod)
		agent.until("ADD p")
		w.deletePod("p", 30)
		agent.expect("DELETE p")
		ended := corev1.PodStatus{Phase: corev1.PodSucceeded}
		for version := range uint64(2) { // an agent reports again what it is told again
			agent.report(pod, version+1, ended, true)
		}
		agent.until("ack 2 ")
		held := w.pod("p")
		if held.DeletionTimestamp == nil || *held.DeletionGracePeriodSeconds != 0 || held.Status.Phase != corev1.PodSucceeded {
			t.Errorf("held: %+v, %s", held.ObjectMeta, held.Status.Phase)
		}

		returned, first := w.connect("n1")
		equal(t, first, "ADD p", "SYNCED")
		err := w.registry.Revise(t.Context(), api.Pods, "default", "p", pod.UID, func(obj api.Object) { obj.SetFinalizers(nil) })
		if err != nil {
			t.Fatal(err)
		}
		returned.until("REMOVE p")
		if _, err := w.registry.Get(t.Context(), api.Pods, "default", "p"); !apierrors.IsNotFound(err) {
			t.Errorf("the record is there: %v", err)
		}
	})
}
