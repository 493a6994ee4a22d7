// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-run/berth/api"
	"github.com/berth-run/berth/store/bolt"
)

func (w *world) applyConfigMap(manager string, force bool, data string) (Patched, error) {
	w.t.Helper()
	return w.Patch(w.t.Context(), api.ConfigMaps, "default", "c",
		Patch{Type: types.ApplyPatchType, Data: []byte("data: " + data), Force: force}, WriteOptions{Manager: manager})
}

func (w *world) mustApply(manager, data string) *corev1.ConfigMap {
	w.t.Helper()
	got, err := w.applyConfigMap(manager, false, data)
	if err != nil {
		w.t.Fatal(err)
	}
	return got.Object.(*corev1.ConfigMap)
}

// owners returns "manager operation" of each record of ownership.
func owners(obj metav1.Object) (out []string) {
	for _, e := range obj.GetManagedFields() {
		out = append(out, e.Manager+" "+string(e.Operation))
	}
	return out
}

func TestApplyMakesMergesAndTakesAway(t *testing.T) {
	w := newWorld(t, bolt.Options{})
	made, err := w.applyConfigMap("a", false, "{x: one, w: two}")
	if err != nil || !made.Created {
		t.Fatalf("%v, created %t", err, made.Created)
	}
	again := w.mustApply("a", "{x: one, w: two}")
	if again.ResourceVersion != made.Object.GetResourceVersion() {
		t.Error("the same apply wrote again")
	}
	if got := w.mustApply("b", "{z: three}"); fmt.Sprint(got.Data) != "map[w:two x:one z:three]" {
		t.Errorf("after b: %v", got.Data)
	}
	// What a says no more goes; what b owns stays.
	if got := w.mustApply("a", "{x: one}"); fmt.Sprint(got.Data) != "map[x:one z:three]" || fmt.Sprint(owners(got)) != "[a Apply b Apply]" {
		t.Errorf("after a: %v owned by %v", got.Data, owners(got))
	}
}

func TestApplyConflicts(t *testing.T) {
	w := newWorld(t, bolt.Options{})
	w.mustApply("a", "{x: one}")
	_, err := w.applyConfigMap("b", false, "{x: two}")
	wantError(t, err, metav1.StatusReasonConflict, `conflict with "a": .data.x`)
	causes := apierrors.APIStatus(err.(*apierrors.StatusError)).Status().Details.Causes
	if len(causes) != 1 || causes[0].Type != metav1.CauseTypeFieldManagerConflict || causes[0].Field != ".data.x" {
		t.Errorf("causes %+v", causes)
	}
	forced, err := w.applyConfigMap("b", true, "{x: two}")
	if err != nil || forced.Object.(*corev1.ConfigMap).Data["x"] != "two" || fmt.Sprint(owners(forced.Object)) != "[b Apply]" {
		t.Errorf("%v, owned by %v", err, owners(forced.Object))
	}
}

// TestOwnersAreKeptFromTheFirstApplyOn: until then an object has none; then each
// write is its writer's.
func TestOwnersAreKeptFromTheFirstApplyOn(t *testing.T) {
	w := newWorld(t, bolt.Options{})
	created, _, err := w.Create(t.Context(), api.ConfigMaps, configMap("default", "c", "created"), WriteOptions{Manager: "curl"})
	if err != nil || len(owners(created)) != 0 {
		t.Fatalf("%v, owned by %v", err, owners(created))
	}
	_, err = w.applyConfigMap("a", false, "{k: applied}")
	wantError(t, err, metav1.StatusReasonConflict, `conflict with "before-first-apply"`)
	if got := w.mustApply("a", "{x: one}"); fmt.Sprint(owners(got)) != "[a Apply before-first-apply Update]" {
		t.Errorf("owned by %v", owners(got))
	}
	patched, err := w.Patch(t.Context(), api.ConfigMaps, "default", "c",
		Patch{Type: types.MergePatchType, Data: []byte(`{"data":{"k":"patched"}}`)}, WriteOptions{Manager: "curl"})
	if err != nil || !strings.Contains(fmt.Sprint(owners(patched.Object)), "curl Update") {
		t.Errorf("%v, owned by %v", err, owners(patched.Object))
	}
	_, err = w.applyConfigMap("a", false, "{k: applied}")
	wantError(t, err, metav1.StatusReasonConflict, `conflict with "curl"`)
}

// TestApplyTakesOverFromKubectl: what kubectl applied on its own side belongs to
// the manager by whose name it takes that over.
func TestApplyTakesOverFromKubectl(t *testing.T) {
	w := newWorld(t, bolt.Options{})
	was := configMap("default", "c", "client")
	was.Annotations = map[string]string{corev1.LastAppliedConfigAnnotation: `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c","namespace":"default"},"data":{"k":"client"}}`}
	if _, _, err := w.Create(t.Context(), api.ConfigMaps, was, WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	if got := w.mustApply("kubectl", "{k: server}"); got.Data["k"] != "server" || !strings.Contains(fmt.Sprint(owners(got)), "kubectl-client-side-apply Update") {
		t.Errorf("%v owned by %v", got.Data, owners(got))
	}
}

func TestApplyRefuses(t *testing.T) {
	w := newWorld(t, bolt.Options{})
	pod := w.createPod("web", "")
	for name, tc := range map[string]struct {
		patch  string
		reason metav1.StatusReason
		words  string
	}{
		"another kind":     {"kind: Node", metav1.StatusReasonBadRequest, "cannot be handled as a Pod"},
		"another name":     {"metadata: {name: other}", metav1.StatusReasonBadRequest, "does not match the name"},
		"managed fields":   {"metadata: {managedFields: [{manager: a}]}", metav1.StatusReasonBadRequest, "metadata.managedFields must be nil"},
		"old version":      {"metadata: {resourceVersion: '1'}", metav1.StatusReasonConflict, "has been modified"},
		"another UID":      {"metadata: {uid: other}", metav1.StatusReasonConflict, "UID in precondition: other"},
		"immutable":        {"spec: {nodeSelector: {a: b}}", metav1.StatusReasonInvalid, "spec.nodeSelector: Forbidden: pod updates may not change"},
		"list without key": {"spec: {containers: [{image: b}]}", metav1.StatusReasonBadRequest, `omits all key fields ["name"]`},
		"no YAML":          {"\t- :", metav1.StatusReasonBadRequest, "yaml"},
		"empty":            {"", metav1.StatusReasonBadRequest, "empty"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := w.Patch(t.Context(), api.Pods, "default", "web", Patch{Type: types.ApplyPatchType, Data: []byte(tc.patch)}, WriteOptions{Manager: "a"})
			wantError(t, err, tc.reason, tc.words)
		})
	}
	if w.pod("web").ResourceVersion != pod.ResourceVersion {
		t.Error("something was written")
	}
}

func TestApplyOfAStatus(t *testing.T) {
	w := newWorld(t, bolt.Options{})
	w.registerNode("n1")
	got, err := w.Patch(t.Context(), api.Nodes, "", "n1", Patch{Type: types.ApplyPatchType, Subresource: "status",
		Data: []byte("spec: {unschedulable: true}\nstatus: {nodeInfo: {kernelVersion: '6.1'}}")}, WriteOptions{Manager: "a"})
	if err != nil {
		t.Fatal(err)
	}
	if n := got.Object.(*corev1.Node); n.Spec.Unschedulable || n.Status.NodeInfo.KernelVersion != "6.1" || n.ManagedFields[0].Subresource != "status" {
		t.Errorf("got %+v", n)
	}
	_, err = w.Patch(t.Context(), api.ConfigMaps, "default", "c", Patch{Type: types.ApplyPatchType, Subresource: "status", Data: []byte("data: {}")}, WriteOptions{Manager: "a"})
	wantError(t, err, metav1.StatusReasonMethodNotAllowed, "patch status")
}

func TestDryApplyWritesNothing(t *testing.T) {
	w := newWorld(t, bolt.Options{})
	head := w.store.Head()
	made, err := w.Patch(t.Context(), api.ConfigMaps, "default", "c",
		Patch{Type: types.ApplyPatchType, Data: []byte("data: {x: one}")}, WriteOptions{Manager: "a", DryRun: true})
	if err != nil || !made.Created || made.Object.(*corev1.ConfigMap).Data["x"] != "one" {
		t.Errorf("%v, %+v", err, made)
	}
	if w.store.Head() != head {
		t.Error("something was written")
	}
}

// TestApplyOfMany: managers that apply at once all get their fields in.
func TestApplyOfMany(t *testing.T) {
	w := newWorld(t, bolt.Options{})
	const managers = 16
	var applying sync.WaitGroup
	for i := range managers {
		applying.Go(func() {
			name := fmt.Sprintf("m%d", i)
			if _, err := w.applyConfigMap(name, false, fmt.Sprintf("{%s: v}", name)); err != nil {
				t.Error(err)
			}
		})
	}
	applying.Wait()
	obj, err := w.Get(t.Context(), api.ConfigMaps, "default", "c")
	if err != nil || len(obj.(*corev1.ConfigMap).Data) != managers || len(obj.GetManagedFields()) != managers {
		t.Errorf("%v, %v", err, obj)
	}
}

// TestApplyOfWhatIsThere is no conflict, although defaults were added to it.
func TestApplyOfWhatIsThere(t *testing.T) {
	w := newWorld(t, bolt.Options{})
	for name, tc := range map[string]struct {
		kind     *api.Kind
		manifest string
	}{
		"field references":  {api.Pods, `{"metadata":{"name":"x"},"spec":{"containers":[{"name":"c","image":"i","env":[{"name":"A","valueFrom":{"fieldRef":{"fieldPath":"metadata.name"}}}]}]}}`},
		"texts of a Secret": {api.Secrets, `{"metadata":{"name":"x"},"stringData":{"k":"v"}}`},
	} {
		t.Run(name, func(t *testing.T) {
			obj, _, err := api.DecodeManifest(tc.kind, []byte(tc.manifest), "")
			if err != nil {
				t.Fatal(err)
			}
			created, _, err := w.Create(t.Context(), tc.kind, obj, WriteOptions{})
			if err != nil {
				t.Fatal(err)
			}
			for _, manager := range []string{"a", "b", "a"} {
				p := Patch{Type: types.ApplyPatchType, Data: []byte(tc.manifest)}
				if _, err := w.Patch(t.Context(), tc.kind, "default", created.GetName(), p, WriteOptions{Manager: manager}); err != nil {
					t.Errorf("%s: %v", manager, err)
				}
			}
		})
	}
}
