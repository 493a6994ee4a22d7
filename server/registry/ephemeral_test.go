// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-run/berth/api"
	"github.com/berth-run/berth/store/bolt"
)

func debugger(name string) corev1.EphemeralContainer {
	return corev1.EphemeralContainer{EphemeralContainerCommon: corev1.EphemeralContainerCommon{Name: name, Image: "busybox:1"}}
}

// What kubectl debug sends.
const addDebugger = `{"spec":{"ephemeralContainers":[{"name":"b","image":"busybox:1"}]}}`

func TestEphemeralContainersAreAddedAndNothingElse(t *testing.T) {
	w := newWorld(t, bolt.Options{})
	w.createPod("web", "")
	next := newPod("web", "")
	next.Labels = map[string]string{"changed": "yes"}
	next.Spec.Containers[0].Image = "nginx:2"
	next.Spec.EphemeralContainers = []corev1.EphemeralContainer{debugger("a")}
	if _, _, err := w.UpdateEphemeralContainers(t.Context(), "default", "web", next, WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	patch := Patch{Type: types.StrategicMergePatchType, Data: []byte(addDebugger), Subresource: "ephemeralcontainers"}
	if _, err := w.Patch(t.Context(), api.Pods, "default", "web", patch, WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	got := w.pod("web")
	if got.Labels["changed"] != "" || got.Spec.Containers[0].Image != "nginx:1.14.2" || got.Generation != 3 {
		t.Errorf("changed too: %+v", got)
	}
	names := map[string]bool{}
	for _, e := range got.Spec.EphemeralContainers {
		names[e.Name] = e.ImagePullPolicy == corev1.PullIfNotPresent
	}
	if len(names) != 2 || !names["a"] || !names["b"] {
		t.Errorf("ephemeral containers %+v", got.Spec.EphemeralContainers)
	}
}

func TestEphemeralContainersAreNeitherChangedNorRemoved(t *testing.T) {
	w := newWorld(t, bolt.Options{})
	w.createPod("web", "")
	with := func(containers ...corev1.EphemeralContainer) error {
		pod := newPod("web", "")
		pod.Spec.EphemeralContainers = containers
		_, _, err := w.UpdateEphemeralContainers(t.Context(), "default", "web", pod, WriteOptions{})
		return err
	}
	if err := with(debugger("a")); err != nil {
		t.Fatal(err)
	}
	changed := debugger("a")
	changed.Image = "busybox:2"
	wantError(t, with(), metav1.StatusReasonInvalid, `existing ephemeral containers "a" may not be removed`)
	wantError(t, with(changed), metav1.StatusReasonInvalid, `existing ephemeral containers "a" may not be changed`)
}

// The manifest that the pod was made from says nothing of what was added by hand.
func TestUpdateOfAPodKeepsItsEphemeralContainers(t *testing.T) {
	w := newWorld(t, bolt.Options{})
	w.createPod("web", "")
	patch := Patch{Type: types.StrategicMergePatchType, Data: []byte(addDebugger), Subresource: "ephemeralcontainers"}
	if _, err := w.Patch(t.Context(), api.Pods, "default", "web", patch, WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	next := newPod("web", "")
	next.Spec.Containers[0].Image = "nginx:2"
	if _, _, err := w.Update(t.Context(), api.Pods, "default", "web", next, WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	if got := w.pod("web"); len(got.Spec.EphemeralContainers) != 1 || got.Spec.Containers[0].Image != "nginx:2" {
		t.Errorf("spec %+v", got.Spec)
	}
}

func TestOnlyPodsHaveEphemeralContainers(t *testing.T) {
	w := newWorld(t, bolt.Options{})
	_, err := w.Patch(t.Context(), api.Secrets, "default", "s",
		Patch{Type: types.MergePatchType, Data: []byte(`{}`), Subresource: "ephemeralcontainers"}, WriteOptions{})
	wantError(t, err, metav1.StatusReasonMethodNotAllowed, "ephemeralcontainers")
}
