// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package volume

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"
)

func fieldFile(path, field string) corev1.DownwardAPIVolumeFile {
	return corev1.DownwardAPIVolumeFile{Path: path, FieldRef: &corev1.ObjectFieldSelector{FieldPath: field}}
}

func resourceFile(path, container, resource string) corev1.DownwardAPIVolumeFile {
	return corev1.DownwardAPIVolumeFile{Path: path, ResourceFieldRef: &corev1.ResourceFieldSelector{ContainerName: container, Resource: resource}}
}

func TestDownwardAPIShowsThePodAsItIsNow(t *testing.T) {
	m, _ := newManager(t)
	limit := resourceFile("limit", "c", "limits.cpu")
	limit.Mode = ptr.To[int32](0o400)
	pod := podWith(corev1.Volume{Name: "v", VolumeSource: corev1.VolumeSource{DownwardAPI: &corev1.DownwardAPIVolumeSource{
		Items: []corev1.DownwardAPIVolumeFile{
			fieldFile("name", "metadata.name"), fieldFile("labels", "metadata.labels"), fieldFile("sub/note", "metadata.annotations['note']"),
			limit, resourceFile("memory", "c", "limits.memory"),
		}}}})
	pod.Labels, pod.Annotations = map[string]string{"a": "1"}, map[string]string{"note": "old"}
	pod.Spec.Containers = []corev1.Container{{Name: "c", Resources: corev1.ResourceRequirements{
		Limits: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1Ki")}}}}
	dir := mount(t, m, pod)
	for name, want := range map[string]string{"name": "p", "labels": `a="1"`, "sub/note": "old", "limit": "4", "memory": "1024"} {
		if got := read(t, dir, name); got != want {
			t.Errorf("%s holds %q, want %q", name, got, want)
		}
	}
	if info, err := os.Stat(filepath.Join(dir, "limit")); err != nil || info.Mode().Perm() != 0o400 {
		t.Errorf("limit: %v, %v; want mode 0400", info, err)
	}

	changed := pod.DeepCopy()
	changed.Labels["b"], changed.Annotations["note"] = "2", "new"
	mount(t, m, changed)
	if got := read(t, dir, "labels") + " " + read(t, dir, "sub/note"); got != "a=\"1\"\nb=\"2\" new" {
		t.Errorf("after the change: %q", got)
	}
}

func TestDownwardAPIOfAnotherContainer(t *testing.T) {
	m, _ := newManager(t)
	_, err := m.Mount(t.Context(), podWith(corev1.Volume{Name: "v", VolumeSource: corev1.VolumeSource{DownwardAPI: &corev1.DownwardAPIVolumeSource{
		Items: []corev1.DownwardAPIVolumeFile{resourceFile("x", "gone", "limits.cpu")}}}}))
	if want := `volume "v" of pod default/p: file "x": the pod has no container "gone"`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func configMapProjection(name string, items ...corev1.KeyToPath) corev1.VolumeProjection {
	return corev1.VolumeProjection{ConfigMap: &corev1.ConfigMapProjection{LocalObjectReference: corev1.LocalObjectReference{Name: name}, Items: items}}
}

func secretProjection(name string, items ...corev1.KeyToPath) corev1.VolumeProjection {
	return corev1.VolumeProjection{Secret: &corev1.SecretProjection{LocalObjectReference: corev1.LocalObjectReference{Name: name}, Items: items}}
}

func projectedVolume(sources ...corev1.VolumeProjection) corev1.Volume {
	return corev1.Volume{Name: "v", VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{
		DefaultMode: ptr.To[int32](0o440), Sources: sources}}}
}

func TestProjectedShowsAllSources(t *testing.T) {
	m, objects := newManager(t)
	objects.configMaps["cm"] = &corev1.ConfigMap{Data: map[string]string{"a": "1", "both": "config map"}}
	objects.secrets["s"] = &corev1.Secret{Data: map[string][]byte{"k": []byte("2"), "both": []byte("secret")}}
	optional := configMapProjection("none")
	optional.ConfigMap.Optional = ptr.To(true)
	pod := podWith(projectedVolume(
		configMapProjection("cm"), secretProjection("s"), optional, corev1.VolumeProjection{},
		secretProjection("s", corev1.KeyToPath{Key: "k", Path: "./sub//k", Mode: ptr.To[int32](0o400)}),
		corev1.VolumeProjection{DownwardAPI: &corev1.DownwardAPIProjection{Items: []corev1.DownwardAPIVolumeFile{fieldFile("sub/name", "metadata.name")}}},
	))
	dir := mount(t, m, pod)
	for name, want := range map[string]string{"a": "1", "k": "2", "both": "secret", "sub/k": "2", "sub/name": "p"} {
		if got := read(t, dir, name); got != want {
			t.Errorf("%s holds %q, want %q", name, got, want)
		}
	}
	for name, mode := range map[string]os.FileMode{"a": 0o440, "sub/k": 0o400, "sub/name": 0o440} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s: %v, %v; want mode %o", name, info, err, mode)
		}
	}
	before, _ := os.Readlink(filepath.Join(dir, dataLink))
	mount(t, m, pod)
	if same, _ := os.Readlink(filepath.Join(dir, dataLink)); same != before {
		t.Error("a mount without a change wrote the files again")
	}
}

func TestAPathIsNotAFileAndADirectory(t *testing.T) {
	m, objects := newManager(t)
	objects.configMaps["cm"] = &corev1.ConfigMap{Data: map[string]string{"a": "1"}}
	_, err := m.Mount(t.Context(), podWith(projectedVolume(
		configMapProjection("cm"), configMapProjection("cm", corev1.KeyToPath{Key: "a", Path: "a/b/c"}))))
	if want := `path "a" is a file, and the directory of "a/b/c"`; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestAVolumeThatCannotBeUpdatedStaysAsItWas(t *testing.T) {
	m, objects := newManager(t)
	objects.configMaps["cm"] = &corev1.ConfigMap{Data: map[string]string{"a": "1"}}
	pod := podWith(configMapVolume(corev1.ConfigMapVolumeSource{}))
	dir := mount(t, m, pod)
	delete(objects.configMaps, "cm")

	restarted := New(Config{PodsDir: m.pods, Objects: objects, Allocatable: allocatable})
	for name, m := range map[string]*Manager{"the same agent": m, "one that came back": restarted} {
		volumes, err := m.Mount(t.Context(), pod)
		if err == nil || !strings.Contains(err.Error(), `configmaps "cm" not found`) || volumes["v"].HostPath != dir {
			t.Errorf("%s: %v, %v; want the volume, and what is missing", name, volumes, err)
		}
		if m.Volumes(pod.UID)["v"].HostPath != dir {
			t.Errorf("%s: containers do not get the volume", name)
		}
	}
	if got := read(t, dir, "a"); got != "1" {
		t.Errorf("a holds %q", got)
	}
}
