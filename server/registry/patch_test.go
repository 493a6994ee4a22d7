// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-run/berth/api"
	"github.com/berth-run/berth/store/bolt"
)

func TestPatchForms(t *testing.T) {
	for name, tc := range map[string]struct {
		form  types.PatchType
		patch string
		want  string // labels and image
	}{
		"merge":     {types.MergePatchType, `{"metadata":{"labels":{"app":null,"a":"b"}}}`, "map[a:b] nginx:1.14.2"},
		"strategic": {types.StrategicMergePatchType, `{"spec":{"containers":[{"name":"c","image":"nginx:2"}]}}`, "map[app:web] nginx:2"},
		"JSON": {types.JSONPatchType, `[{"op":"replace","path":"/spec/containers/0/image","value":"nginx:3"},
			{"op":"add","path":"/metadata/labels/a","value":"b"}]`, "map[a:b app:web] nginx:3"},
		"nothing":           {types.MergePatchType, `{}`, "map[app:web] nginx:1.14.2"},
		"status is dropped": {types.MergePatchType, `{"status":{"phase":"Failed"}}`, "map[app:web] nginx:1.14.2"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, bolt.Options{})
			w.createPod("web", "")
			got, err := w.Patch(t.Context(), api.Pods, "default", "web", Patch{Type: tc.form, Data: []byte(tc.patch)}, WriteOptions{})
			if err != nil {
				t.Fatal(err)
			}
			pod := got.Object.(*corev1.Pod)
			if is := fmt.Sprint(pod.Labels, " ", pod.Spec.Containers[0].Image); is != tc.want || pod.Status.Phase != corev1.PodPending {
				t.Errorf("%s, %s; want %s", is, pod.Status.Phase, tc.want)
			}
		})
	}
}

// TestPatchFieldValidation: a misspelt or repeated field in a patch is told as one
// in a manifest is.
func TestPatchFieldValidation(t *testing.T) {
	w := newWorld(t, bolt.Options{})
	w.createPod("web", "")
	patch := func(validation string) (Patched, error) {
		return w.Patch(t.Context(), api.Pods, "default", "web", Patch{
			Type: types.MergePatchType, Data: []byte(`{"metadata":{"label":{"a":"b"}},"spec":{},"spec":{}}`), FieldValidation: validation,
		}, WriteOptions{})
	}
	got, err := patch("")
	if all := strings.Join(got.Warnings, "; "); err != nil || !strings.Contains(all, `unknown field "metadata.label"`) || !strings.Contains(all, `duplicate field "spec"`) {
		t.Errorf("%v, warnings %q", err, got.Warnings)
	}
	if got, err := patch("Ignore"); err != nil || len(got.Warnings) > 0 {
		t.Errorf("%v, warnings %q", err, got.Warnings)
	}
	_, err = patch("Strict")
	wantError(t, err, metav1.StatusReasonInvalid, `duplicate field "spec"`)
}

// TestPatchesAtOnce: none is lost, none fails, and none says twice what it found in
// more than one attempt.
func TestPatchesAtOnce(t *testing.T) {
	w := newWorld(t, bolt.Options{})
	w.createPod("web", "")
	const patches = 16
	var patching sync.WaitGroup
	for i := range patches {
		patching.Go(func() {
			got, err := w.Patch(t.Context(), api.Pods, "default", "web",
				Patch{Type: types.MergePatchType, Data: fmt.Appendf(nil, `{"metadata":{"labels":{"l%d":"v"},"label":{}}}`, i)}, WriteOptions{})
			if err != nil || len(got.Warnings) != 1 {
				t.Errorf("%v, warnings %q", err, got.Warnings)
			}
		})
	}
	patching.Wait()
	if got := len(w.pod("web").Labels); got != patches+1 {
		t.Errorf("%d labels", got)
	}
}

func TestDeleteCollection(t *testing.T) {
	w := newWorld(t, bolt.Options{})
	w.registerNode("n1")
	w.createPod("bound", "n1")
	w.createPod("free", "")
	w.createPod("other", "")
	list, err := w.DeleteCollection(t.Context(), api.Pods, "default", metav1.DeleteOptions{}, ListOptions{LabelSelector: "app in (bound, free)"})
	if err != nil || len(list.Items) != 2 {
		t.Fatalf("%v, %d deleted", err, len(list.Items))
	}
	if w.pod("bound").DeletionTimestamp == nil {
		t.Error("a running pod is not told to end")
	}
	left, err := w.List(t.Context(), api.Pods, "default", ListOptions{})
	if err != nil || len(left.Items) != 2 {
		t.Errorf("%v, %d left", err, len(left.Items))
	}
}

// TestNamespacesAreDeletedOneByOne: a request that lost the name of its namespace
// must not end all of them.
func TestNamespacesAreDeletedOneByOne(t *testing.T) {
	w := newWorld(t, bolt.Options{})
	_, err := w.DeleteCollection(t.Context(), api.Namespaces, "", metav1.DeleteOptions{}, ListOptions{})
	wantError(t, err, metav1.StatusReasonMethodNotAllowed, "namespaces")
}

// TestPatchToTheSameWritesNothing: whether this process had the object in memory
// as it was written, or as it was read back.
func TestPatchToTheSameWritesNothing(t *testing.T) {
	w := newWorld(t, bolt.Options{})
	w.createPod("web", "")
	patch := func() string {
		t.Helper()
		got, err := w.Patch(t.Context(), api.Pods, "default", "web", Patch{
			Type: types.MergePatchType, Data: []byte(`{"metadata":{"labels":{"a":"b"}}}`),
		}, WriteOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return got.Object.GetResourceVersion()
	}
	first := patch()
	if again := patch(); again != first {
		t.Errorf("version %s after %s", again, first)
	}
	w.memo = newMemo(memoBytes)
	if again := patch(); again != first {
		t.Errorf("version %s after %s, read back", again, first)
	}

	typed := api.Typed(api.Pods, w.pod("web"))
	w.memo = newMemo(memoBytes)
	if obj, _, err := w.Update(t.Context(), api.Pods, "default", "web", typed, WriteOptions{}); err != nil || obj.GetResourceVersion() != first {
		t.Errorf("version %v after %s, of a manifest; %v", obj, first, err)
	}
}
