// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/berth-run/berth/api"
	"github.com/berth-run/berth/store/bolt"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is a registry over a real store, with a clock that stands still.
type world struct {
	*Registry
	t   testing.TB
	now time.Time
}

func newWorld(t testing.TB, opts bolt.Options) *world {
	t.Helper()
	s, err := bolt.Open(filepath.Join(t.TempDir(), "berth.db"), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	w := &world{t: t, now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	w.Registry = New(s, Options{Now: func() time.Time { return w.now }})
	if err := w.EnsureDefaults(context.Background()); err != nil {
		t.Fatal(err)
	}
	return w
}

func newPod(name, node string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"app": name}},
		Spec:       corev1.PodSpec{NodeName: node, Containers: []corev1.Container{{Name: "c", Image: "nginx:1.14.2"}}},
	}
}

func configMap(namespace, name, value string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Data: map[string]string{"k": value}}
}

func (w *world) create(k *api.Kind, obj api.Object) api.Object {
	w.t.Helper()
	created, _, err := w.Create(context.Background(), k, obj, WriteOptions{})
	if err != nil {
		w.t.Fatal(err)
	}
	return created
}

func (w *world) createPod(name, node string) *corev1.Pod {
	w.t.Helper()
	return w.create(api.Pods, newPod(name, node)).(*corev1.Pod)
}

func (w *world) registerNode(name string) {
	w.t.Helper()
	w.create(api.Nodes, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}})
}

func (w *world) pod(name string) *corev1.Pod {
	w.t.Helper()
	obj, err := w.Get(context.Background(), api.Pods, "default", name)
	if err != nil {
		w.t.Fatal(err)
	}
	return obj.(*corev1.Pod)
}

func (w *world) report(pod *corev1.Pod, status corev1.PodStatus) error {
	_, err := w.ApplyPodStatus(context.Background(), pod.Spec.NodeName,
		PodStatus{Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID, Status: status})
	return err
}

func (w *world) deletePod(name string, grace *int64) *corev1.Pod {
	w.t.Helper()
	obj, err := w.Delete(context.Background(), api.Pods, "default", name, metav1.DeleteOptions{GracePeriodSeconds: grace})
	if err != nil {
		w.t.Fatal(err)
	}
	return obj.(*corev1.Pod)
}

// wantError checks an error's reason, and words of its message.
func wantError(t testing.TB, err error, reason metav1.StatusReason, words string) {
	t.Helper()
	if apierrors.ReasonForError(err) != reason || !strings.Contains(err.Error(), words) {
		t.Errorf("got %q (%v), want reason %s with %q", apierrors.ReasonForError(err), err, reason, words)
	}
}

func TestCreateFillsInWhatTheServerSets(t *testing.T) {
	w := newWorld(t, bolt.Options{})
	given := newPod("web", "")
	given.UID, given.Generation = "mine", 7
	given.SetSelfLink("/x")
	given.CreationTimestamp, given.DeletionTimestamp = metav1.Unix(1, 0), ptr.To(metav1.Unix(1, 0))
	given.Status = corev1.PodStatus{Phase: corev1.PodRunning, PodIP: "10.0.0.1"}
	before := given.DeepCopy()

	pod := w.create(api.Pods, given).(*corev1.Pod)
	if pod.UID == "mine" || len(pod.UID) != 36 || pod.Generation != 1 || pod.GetSelfLink() != "" || pod.DeletionTimestamp != nil {
		t.Errorf("metadata: %+v", pod.ObjectMeta)
	}
	if pod.Namespace != "default" || pod.ResourceVersion == "" || !pod.CreationTimestamp.Time.Equal(w.now) {
		t.Errorf("metadata: %+v", pod.ObjectMeta)
	}
	if pod.Status.Phase != corev1.PodPending || pod.Status.PodIP != "" || pod.Status.QOSClass != corev1.PodQOSBestEffort {
		t.Errorf("status: %+v", pod.Status)
	}
	if pod.Spec.RestartPolicy != corev1.RestartPolicyAlways {
		t.Error("the pod is not defaulted")
	}
	if given.String() != before.String() {
		t.Error("the given object has changed")
	}
	if stored := w.pod("web"); stored.String() != pod.String() {
		t.Errorf("stored: %v", stored)
	}
}

func TestCreateRefuses(t *testing.T) {
	w := newWorld(t, bolt.Options{})
	w.createPod("taken", "")
	versioned := newPod("a", "")
	versioned.ResourceVersion = "1"
	elsewhere := newPod("a", "")
	elsewhere.Namespace = "other"
	invalid := newPod("A_B", "")
	unsupported := newPod("a", "")
	unsupported.Spec.Containers[0].VolumeDevices = []corev1.VolumeDevice{{Name: "a", DevicePath: "/dev/a"}}
	large := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "a", Annotations: map[string]string{"a": strings.Repeat("x", 300<<10)}},
		StringData: map[string]string{"k": strings.Repeat("x", 1<<20)}}
	huge := &corev1.Event{ObjectMeta: metav1.ObjectMeta{Name: "a"}, Message: strings.Repeat("x", MaxObjectBytes)}

	for name, tc := range map[string]struct {
		kind   *api.Kind
		obj    api.Object
		reason metav1.StatusReason
		words  string
	}{
		"name taken":       {api.Pods, newPod("taken", ""), metav1.StatusReasonAlreadyExists, `pods "taken" already exists`},
		"version":          {api.Pods, versioned, metav1.StatusReasonBadRequest, "resourceVersion should not be set"},
		"other namespace":  {api.Pods, elsewhere, metav1.StatusReasonBadRequest, "does not match the namespace sent on the request"},
		"invalid name":     {api.Pods, invalid, metav1.StatusReasonInvalid, "metadata.name: Invalid value"},
		"unsupported":      {api.Pods, unsupported, metav1.StatusReasonInvalid, "spec.containers[0].volumeDevices: Forbidden: not honoured"},
		"no name":          {api.ConfigMaps, configMap("", "", ""), metav1.StatusReasonInvalid, "name or generateName is required"},
		"annotations":      {api.Secrets, large, metav1.StatusReasonInvalid, "metadata.annotations: Too long"},
		"over the maximum": {api.Events, huge, metav1.StatusReasonRequestEntityTooLarge, `events "a" takes`},
	} {
		t.Run(name, func(t *testing.T) {
			head := w.store.Head()
			_, _, err := w.Create(t.Context(), tc.kind, tc.obj, WriteOptions{Namespace: "default"})
			wantError(t, err, tc.reason, tc.words)
			if w.store.Head() != head {
				t.Error("something was written")
			}
		})
	}
	_, _, err := w.Create(t.Context(), api.Pods, newPod("a", ""), WriteOptions{Namespace: "nowhere"})
	wantError(t, err, metav1.StatusReasonNotFound, `namespaces "nowhere" not found`)
}

func TestGenerateName(t *testing.T) {
	w := newWorld(t, bolt.Options{})
	names := map[string]bool{}
	for range 20 {
		c := configMap("", "", "")
		c.GenerateName = "conf-"
		created := w.create(api.ConfigMaps, c)
		names[created.GetName()] = true
		if !strings.HasPrefix(created.GetName(), "conf-") || len(created.GetName()) != len("conf-")+5 {
			t.Errorf("name %q", created.GetName())
		}
	}
	if len(names) != 20 {
		t.Errorf("%d names for 20 objects", len(names))
	}
	long := configMap("", "", "")
	long.GenerateName = strings.Repeat("a", 100)
	if name := w.create(api.ConfigMaps, long).GetName(); len(name) != 63 {
		t.Errorf("%q has %d characters", name, len(name))
	}
}

func TestDryRunWritesNothing(t *testing.T) {
	w := newWorld(t, bolt.Options{})
	w.registerNode("n1")
	pod := w.createPod("web", "n1")
	head := w.store.Head()
	dry := WriteOptions{DryRun: true}

	if obj, _, err := w.Create(t.Context(), api.Pods, newPod("other", ""), dry); err != nil || obj.GetUID() == "" {
		t.Errorf("create: %v, %v", obj, err)
	}
	_, _, err := w.Create(t.Context(), api.Pods, newPod("web", ""), dry)
	wantError(t, err, metav1.StatusReasonAlreadyExists, "already exists")

	changed := pod.DeepCopy()
	changed.Labels = map[string]string{"a": "b"}
	if obj, _, err := w.Update(t.Context(), api.Pods, "default", "web", changed, dry); err != nil || obj.GetLabels()["a"] != "b" {
		t.Errorf("update: %v, %v", obj, err)
	}
	obj, err := w.Delete(t.Context(), api.Pods, "default", "web", metav1.DeleteOptions{DryRun: []string{"All"}})
	if err != nil || obj.GetDeletionTimestamp() == nil {
		t.Errorf("delete: %v, %v", obj, err)
	}
	if w.store.Head() != head || w.pod("web").String() != pod.String() {
		t.Error("something was written")
	}
}

func TestUnregisteredNodeIsAWarning(t *testing.T) {
	w := newWorld(t, bolt.Options{})
	w.registerNode("n1")
	for node, want := range map[string]int{"": 0, "n1": 0, "n2": 1} {
		_, warnings, err := w.Create(t.Context(), api.Pods, newPod("on-"+node+"x", node), WriteOptions{})
		if err != nil || len(warnings) != want {
			t.Errorf("node %q: %v, warnings %q", node, err, warnings)
		}
	}
}

func TestGetEncodedIsWhatGetReturns(t *testing.T) {
	w := newWorld(t, bolt.Options{})
	pod := w.createPod("web", "")
	encoded, err := w.GetEncoded(t.Context(), api.Pods, "default", "web")
	if err != nil {
		t.Fatal(err)
	}
	got := &corev1.Pod{}
	if err := got.Unmarshal(encoded); err != nil || got.String() != pod.String() {
		t.Errorf("%v: %v", err, got)
	}
	_, err = w.GetEncoded(t.Context(), api.Pods, "default", "none")
	wantError(t, err, metav1.StatusReasonNotFound, `pods "none" not found`)
	_, err = w.Get(t.Context(), api.Pods, "default", "none")
	wantError(t, err, metav1.StatusReasonNotFound, `pods "none" not found`)
}

func TestB023RecreatedNameIsAnotherPod(t *testing.T) {
	w := newWorld(t, bolt.Options{})
	w.registerNode("n1")
	running := corev1.PodStatus{Phase: corev1.PodRunning, PodIP: "10.0.0.1",
		ContainerStatuses: []corev1.ContainerStatus{{Name: "c", Ready: true}}}
	seen := map[types.UID]bool{}
	for range 200 {
		old := w.createPod("p", "n1")
		if got := w.pod("p"); got.UID != old.UID || seen[old.UID] || got.Status.Phase != corev1.PodPending ||
			got.Status.PodIP != "" || len(got.Status.ContainerStatuses) > 0 {
			t.Fatalf("the new pod has the old one's: %+v", got)
		}
		seen[old.UID] = true
		if err := w.report(old, running); err != nil {
			t.Fatal(err)
		}
		w.deletePod("p", ptr.To(int64(0)))
		wantError(t, w.report(old, running), metav1.StatusReasonNotFound, `pods "p" not found`)

		next := w.createPod("p", "n1")
		wantError(t, w.report(old, running), metav1.StatusReasonConflict, string(old.UID))
		if err := w.FinishPodDeletion(t.Context(), "n1", "default", "p", old.UID); err != nil {
			t.Fatal(err)
		}
		if got := w.pod("p"); got.UID != next.UID || got.Status.PodIP != "" {
			t.Fatalf("the old pod's agent changed the new one: %+v", got)
		}
		w.deletePod("p", ptr.To(int64(0)))
	}
}
