// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-run/berth/api"
	"github.com/berth-run/berth/store/bolt"
)

func TestPodsHaveAServiceAccountThatExists(t *testing.T) {
	w := newWorld(t, bolt.Options{})
	pod := newPod("web", "")
	pod.Spec.ServiceAccountName = "robot"
	_, _, err := w.Create(t.Context(), api.Pods, pod, WriteOptions{})
	wantError(t, err, metav1.StatusReasonForbidden,
		`pods "web" is forbidden: error looking up service account default/robot: serviceaccount "robot" not found`)
	_, _, err = w.Create(t.Context(), api.Pods, pod, WriteOptions{DryRun: true})
	wantError(t, err, metav1.StatusReasonForbidden, "error looking up service account")

	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "robot"}}
	if _, _, err := w.Create(t.Context(), api.ServiceAccounts, account, WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"robot": "robot", "": "default"} {
		pod := newPod("of-"+want, "")
		pod.Spec.ServiceAccountName = name
		obj, _, err := w.Create(t.Context(), api.Pods, pod, WriteOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if spec := obj.(*corev1.Pod).Spec; spec.ServiceAccountName != want || spec.DeprecatedServiceAccount != want {
			t.Errorf("a pod that names %q has %q and %q", name, spec.ServiceAccountName, spec.DeprecatedServiceAccount)
		}
		// The manifest as it was written, once more.
		again := newPod(pod.Name, "")
		if obj, _, err = w.Update(t.Context(), api.Pods, "default", pod.Name, again, WriteOptions{}); err != nil {
			t.Fatal(err)
		}
		if got := obj.(*corev1.Pod).Spec.ServiceAccountName; got != want || obj.GetGeneration() != 1 {
			t.Errorf("after an update: %q, generation %d", got, obj.GetGeneration())
		}
	}
}
