// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"net/http"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	"github.com/berth-run/berth/test/internal/harness"
)

// serving returns a pod that serves its files, with each volume at /NAME.
func serving(name string, volumes map[string]corev1.VolumeSource) *corev1.Pod {
	p := pod(name, app("c", "serve", "80"))
	for name, source := range volumes {
		p.Spec.Volumes = append(p.Spec.Volumes, corev1.Volume{Name: name, VolumeSource: source})
		p.Spec.Containers[0].VolumeMounts = append(p.Spec.Containers[0].VolumeMounts, corev1.VolumeMount{Name: name, MountPath: "/" + name})
	}
	return p
}

func (w *world) mergePatch(path, patch string) {
	w.t.Helper()
	if _, err := w.Do(w.ctx(), http.MethodPatch, path, []byte(patch), nil); err != nil {
		w.t.Fatalf("PATCH %s: %v", path, err)
	}
}

// files waits until a pod's files hold what they are to.
func (w *world) files(p *corev1.Pod, want map[string]string) {
	w.t.Helper()
	for path, content := range want {
		var got string
		err := harness.Poll(w.ctx(), path+" holds "+content, func() (bool, error) {
			got = w.page(p, "/file?path="+path)
			return got == content, nil
		})
		if err != nil {
			w.t.Errorf("%v; it holds %q", err, got)
		}
	}
}

func item(path, field string) corev1.DownwardAPIVolumeFile {
	return corev1.DownwardAPIVolumeFile{Path: path, FieldRef: &corev1.ObjectFieldSelector{FieldPath: field}}
}

func named(name string) corev1.LocalObjectReference { return corev1.LocalObjectReference{Name: name} }

func TestVolumesFollowWhatTheyShow(t *testing.T) {
	w := shared(t)
	w.configMap("cm", map[string]string{"k": "map 1"})
	w.secret("s", corev1.SecretTypeOpaque, map[string][]byte{"k": []byte("secret 1")})
	p := serving("p", map[string]corev1.VolumeSource{
		"cm":     {ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: named("cm")}},
		"secret": {Secret: &corev1.SecretVolumeSource{SecretName: "s"}},
		"fields": {DownwardAPI: &corev1.DownwardAPIVolumeSource{Items: []corev1.DownwardAPIVolumeFile{
			item("note", "metadata.annotations['note']"), item("labels", "metadata.labels"), item("name", "metadata.name"),
			{Path: "memory", ResourceFieldRef: &corev1.ResourceFieldSelector{
				ContainerName: "c", Resource: "limits.memory", Divisor: resource.MustParse("1Mi")}},
		}}},
		"all": {Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{
			{ConfigMap: &corev1.ConfigMapProjection{LocalObjectReference: named("cm"), Items: []corev1.KeyToPath{{Key: "k", Path: "map/k"}}}},
			{Secret: &corev1.SecretProjection{LocalObjectReference: named("s"), Items: []corev1.KeyToPath{{Key: "k", Path: "secret/k"}}}},
			{DownwardAPI: &corev1.DownwardAPIProjection{Items: []corev1.DownwardAPIVolumeFile{item("note", "metadata.annotations['note']")}}},
		}}},
	})
	p.Labels, p.Annotations = map[string]string{"app": "p"}, map[string]string{"note": "note 1"}
	p.Spec.Containers[0].Resources.Limits = corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("64Mi")}
	w.create(p)
	ready := w.ready("p")
	w.files(ready, map[string]string{
		"/cm/k": "map 1", "/secret/k": "secret 1", "/fields/note": "note 1", "/fields/labels": `app="p"`, "/fields/name": "p", "/fields/memory": "64",
		"/all/map/k": "map 1", "/all/secret/k": "secret 1", "/all/note": "note 1",
	})

	space := "/api/v1/namespaces/" + w.ns
	w.mergePatch(space+"/configmaps/cm", `{"data":{"k":"map 2"}}`)
	w.mergePatch(space+"/secrets/s", `{"stringData":{"k":"secret 2"}}`)
	w.mergePatch(space+"/pods/p", `{"metadata":{"annotations":{"note":"note 2"},"labels":{"more":"1"}}}`)
	w.files(ready, map[string]string{
		"/cm/k": "map 2", "/secret/k": "secret 2", "/fields/note": "note 2", "/fields/labels": "app=\"p\"\nmore=\"1\"",
		"/all/map/k": "map 2", "/all/secret/k": "secret 2", "/all/note": "note 2",
	})

	// Its ConfigMap goes: what runs keeps its files, and is told.
	if _, err := w.Do(w.ctx(), http.MethodDelete, space+"/configmaps/cm", nil, nil); err != nil {
		t.Fatal(err)
	}
	w.waitEvent("p", `configmaps "cm" not found`)
	w.files(ready, map[string]string{"/cm/k": "map 2", "/all/secret/k": "secret 2"})
	if got := w.ready("p"); container(got, "c").RestartCount != 0 {
		t.Errorf("restarted: %+v", got.Status)
	}
}

// TestB071AMissingObjectIsNamedAtOnce: what a volume lacks is in the pod's status and
// in an event, and the pod starts when it is there.
func TestB071AMissingObjectIsNamedAtOnce(t *testing.T) {
	for name, tc := range map[string]struct {
		source  corev1.VolumeSource
		missing string
		mend    func(w *world)
	}{
		"config map": {corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: named("cm1")}},
			`configmaps "cm1" not found`, func(w *world) { w.configMap("cm1", map[string]string{"k": "v"}) }},
		"secret in a projection": {corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{
			{Secret: &corev1.SecretProjection{LocalObjectReference: named("s1")}}}}},
			`secrets "s1" not found`, func(w *world) { w.secret("s1", corev1.SecretTypeOpaque, map[string][]byte{"k": []byte("v")}) }},
		"key": {corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: named("half"),
			Items: []corev1.KeyToPath{{Key: "k", Path: "k"}}}},
			`configmap "half" has no key "k"`, func(w *world) { w.mergePatch("/api/v1/namespaces/"+w.ns+"/configmaps/half", `{"data":{"k":"v"}}`) }},
	} {
		t.Run(name, func(t *testing.T) {
			w := shared(t)
			w.configMap("half", map[string]string{"other": "x"})
			w.create(serving("p", map[string]corev1.VolumeSource{"v": tc.source}))
			w.wait("p", "says what it lacks", func(p *corev1.Pod) bool {
				s := container(p, "c").State.Waiting
				return p.Status.Phase == corev1.PodPending && s != nil && s.Reason == "FailedMount" && strings.Contains(s.Message, tc.missing)
			})
			w.waitEvent("p", "FailedMount: ")
			w.waitEvent("p", tc.missing)
			tc.mend(w)
			w.files(w.ready("p"), map[string]string{"/v/k": "v"})
		})
	}
}

// TestB068ANewPodSeesTheNewContent, whatever its predecessor of the same name saw.
func TestB068ANewPodSeesTheNewContent(t *testing.T) {
	w := shared(t)
	p := serving("p", map[string]corev1.VolumeSource{"cm": {ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: named("cm")}}})
	p.Spec.TerminationGracePeriodSeconds = ptr.To[int64](0)
	for _, content := range []string{"old", "new"} {
		if content == "old" {
			w.configMap("cm", map[string]string{"k": content})
		} else {
			w.delete("p", -1)
			w.gone("p", testTimeout)
			w.mergePatch("/api/v1/namespaces/"+w.ns+"/configmaps/cm", `{"data":{"k":"`+content+`"}}`)
		}
		w.create(p)
		if got := w.page(w.ready("p"), "/file?path=/cm/k"); got != content {
			t.Errorf("the first that it sees is %q, want %q", got, content)
		}
	}
}
