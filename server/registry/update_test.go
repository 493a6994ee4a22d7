// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"context"
	"fmt"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-run/berth/api"
	"github.com/berth-run/berth/store/bolt"
)

func TestUpdateKeepsStatusAndSystemMetadata(t *testing.T) {
	w := newWorld(t, bolt.Options{})
	w.registerNode("n1")
	pod := w.createPod("web", "n1")
	if err := w.report(pod, corev1.PodStatus{Phase: corev1.PodRunning, PodIP: "10.0.0.1"}); err != nil {
		t.Fatal(err)
	}
	// As it was first written: without node, version and status.
	next := newPod("web", "")
	next.Spec.Containers[0].Image = "nginx:1.15"
	next.Generation = 99
	next.Status.Phase = corev1.PodFailed

	obj, _, err := w.Update(t.Context(), api.Pods, "default", "web", next, WriteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	got := obj.(*corev1.Pod)
	if got.Status.PodIP != "10.0.0.1" || got.Status.Phase != corev1.PodRunning {
		t.Errorf("status: %+v", got.Status)
	}
	if got.UID != pod.UID || got.Generation != 2 || got.CreationTimestamp != pod.CreationTimestamp || got.Spec.NodeName != "n1" {
		t.Errorf("metadata: %+v", got.ObjectMeta)
	}
	if got.Spec.Containers[0].Image != "nginx:1.15" || w.pod("web").ResourceVersion != got.ResourceVersion {
		t.Errorf("not stored: %+v", got)
	}
}

func TestUpdateRefuses(t *testing.T) {
	w := newWorld(t, bolt.Options{})
	stale := w.createPod("web", "")
	labelled := stale.DeepCopy()
	labelled.Labels = map[string]string{"a": "b"}
	if _, _, err := w.Update(t.Context(), api.Pods, "default", "web", labelled, WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	other := newPod("web", "")
	other.UID = "other"
	command := newPod("web", "")
	command.Spec.Containers[0].Command = []string{"sh"}
	for name, tc := range map[string]struct {
		name   string
		obj    api.Object
		reason metav1.StatusReason
		words  string
	}{
		"stale": {"web", stale, metav1.StatusReasonConflict,
			`Operation cannot be fulfilled on pods "web": the object has been modified; please apply your changes to the latest version and try again`},
		"another":      {"web", other, metav1.StatusReasonConflict, "UID in precondition: other"},
		"none":         {"db", newPod("db", ""), metav1.StatusReasonNotFound, `pods "db" not found`},
		"another name": {"web", newPod("db", ""), metav1.StatusReasonBadRequest, "does not match the name on the URL"},
		"immutable":    {"web", command, metav1.StatusReasonInvalid, "spec.containers[0].command: Forbidden: pod updates may not change"},
	} {
		t.Run(name, func(t *testing.T) {
			head := w.store.Head()
			_, _, err := w.Update(t.Context(), api.Pods, "default", tc.name, tc.obj, WriteOptions{})
			wantError(t, err, tc.reason, tc.words)
			if w.store.Head() != head {
				t.Error("something was written")
			}
		})
	}
}

func TestUpdateThatChangesNothingWritesNothing(t *testing.T) {
	w := newWorld(t, bolt.Options{})
	pod := w.createPod("web", "")
	got, _, err := w.Update(t.Context(), api.Pods, "default", "web", newPod("web", ""), WriteOptions{})
	if err != nil || got.GetResourceVersion() != pod.ResourceVersion {
		t.Errorf("%v, %v", err, got)
	}
}

func TestUpdateStatusKeepsAllElse(t *testing.T) {
	w := newWorld(t, bolt.Options{})
	w.registerNode("n1")
	next := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1", Labels: map[string]string{"a": "b"}}}
	next.Spec.Unschedulable = true
	next.Status.NodeInfo.KernelVersion = "6.1"
	obj, err := w.UpdateStatus(t.Context(), api.Nodes, "", "n1", next, WriteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if n := obj.(*corev1.Node); n.Spec.Unschedulable || len(n.Labels) > 0 || n.Status.NodeInfo.KernelVersion != "6.1" {
		t.Errorf("got %+v", n)
	}
	next.Status.NodeInfo.KernelVersion = ""
	obj, _, err = w.Update(t.Context(), api.Nodes, "", "n1", next, WriteOptions{})
	if n, _ := obj.(*corev1.Node); err != nil || !n.Spec.Unschedulable || n.Status.NodeInfo.KernelVersion != "6.1" {
		t.Errorf("%v, got %+v", err, n)
	}
	_, err = w.UpdateStatus(t.Context(), api.ConfigMaps, "default", "c", configMap("", "c", ""), WriteOptions{})
	wantError(t, err, metav1.StatusReasonMethodNotAllowed, "")
}

// Writers without a version take turns; each of the changes is there.
func TestConcurrentWritersLoseNothing(t *testing.T) {
	w := newWorld(t, bolt.Options{})
	w.registerNode("n1")
	pod := w.createPod("web", "n1")
	var writers sync.WaitGroup
	for i := range 8 {
		writers.Go(func() {
			if err := w.report(pod, corev1.PodStatus{Phase: corev1.PodRunning, Message: fmt.Sprint(i)}); err != nil {
				t.Error(err)
			}
		})
		writers.Go(func() {
			_, err := w.change(context.Background(), api.Pods, "default", "web", func(current api.Object) (decision, error) {
				next := current.DeepCopyObject().(*corev1.Pod)
				next.Labels[fmt.Sprint("l", i)] = ""
				return decision{write: next}, nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	writers.Wait()
	if got := w.pod("web"); len(got.Labels) != 9 || got.Status.Message == "" {
		t.Errorf("got %v, %+v", got.Labels, got.Status)
	}
}
