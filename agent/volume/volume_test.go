// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package volume

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

type fakeObjects struct {
	configMaps map[string]*corev1.ConfigMap
	secrets    map[string]*corev1.Secret
}

func (f *fakeObjects) ConfigMap(_, name string) (*corev1.ConfigMap, error) {
	if c, ok := f.configMaps[name]; ok {
		return c, nil
	}
	return nil, apierrors.NewNotFound(corev1.Resource("configmaps"), name)
}

func (f *fakeObjects) Secret(_, name string) (*corev1.Secret, error) {
	if s, ok := f.secrets[name]; ok {
		return s, nil
	}
	return nil, apierrors.NewNotFound(corev1.Resource("secrets"), name)
}

func newManager(t *testing.T) (*Manager, *fakeObjects) {
	t.Helper()
	objects := &fakeObjects{configMaps: map[string]*corev1.ConfigMap{}, secrets: map[string]*corev1.Secret{}}
	return New(Config{PodsDir: t.TempDir(), Objects: objects, Allocatable: allocatable}), objects
}

func allocatable() corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("4")}
}

func podWith(volumes ...corev1.Volume) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "p", UID: "uid"}, Spec: corev1.PodSpec{Volumes: volumes}}
}

func configMapVolume(source corev1.ConfigMapVolumeSource) corev1.Volume {
	source.Name = "cm"
	return corev1.Volume{Name: "v", VolumeSource: corev1.VolumeSource{ConfigMap: &source}}
}

// mount mounts the pod's only volume and takes it away at the test's end.
func mount(t *testing.T, m *Manager, pod *corev1.Pod) string {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("mounts need root")
	}
	t.Cleanup(func() { m.Unmount(t.Context(), pod.UID) })
	volumes, err := m.Mount(t.Context(), pod)
	if err != nil {
		t.Fatal(err)
	}
	return volumes[pod.Spec.Volumes[0].Name].HostPath
}

func read(t *testing.T, elem ...string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(elem...))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestConfigMapShowsKeysAndFollowsUpdates(t *testing.T) {
	m, objects := newManager(t)
	objects.configMaps["cm"] = &corev1.ConfigMap{Data: map[string]string{"a": "1", "b": "2"}, BinaryData: map[string][]byte{"c": {3}}}
	pod := podWith(configMapVolume(corev1.ConfigMapVolumeSource{}))
	dir := mount(t, m, pod)
	if got := read(t, dir, "a") + read(t, dir, "b") + read(t, dir, "c"); got != "12\x03" {
		t.Fatalf("contents %q", got)
	}
	before, _ := os.Readlink(filepath.Join(dir, dataLink))

	mount(t, m, pod)
	if same, _ := os.Readlink(filepath.Join(dir, dataLink)); same != before {
		t.Error("a mount without a change wrote the files again")
	}

	objects.configMaps["cm"] = &corev1.ConfigMap{Data: map[string]string{"a": "new"}}
	mount(t, m, pod)
	if got := read(t, dir, "a"); got != "new" {
		t.Errorf("a = %q after the update", got)
	}
	entries, _ := os.ReadDir(dir)
	if len(entries) != 3 { // a, ..data, and the directory that it points to
		t.Errorf("left after the update: %v", entries)
	}
}

func TestItemsModesAndPaths(t *testing.T) {
	m, objects := newManager(t)
	objects.secrets["s"] = &corev1.Secret{Data: map[string][]byte{"key": []byte("secret"), "other": nil}}
	dir := mount(t, m, podWith(corev1.Volume{Name: "v", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{
		SecretName: "s", DefaultMode: ptr.To[int32](0o400),
		Items: []corev1.KeyToPath{{Key: "key", Path: "sub/file"}, {Key: "other", Path: "sub/x", Mode: ptr.To[int32](0o755)}},
	}}}))
	for name, mode := range map[string]os.FileMode{"sub/file": 0o400, "sub/x": 0o755} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s: %v, %v; want mode %o", name, info, err, mode)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "other")); err == nil {
		t.Error("a key that is not listed is shown")
	}
}

func TestMissingObjectsAndKeysAreNamed(t *testing.T) {
	m, objects := newManager(t)
	objects.configMaps["cm"] = &corev1.ConfigMap{}
	item := []corev1.KeyToPath{{Key: "k", Path: "k"}}
	for name, tc := range map[string]struct {
		volume corev1.Volume
		want   string
	}{
		"key":    {configMapVolume(corev1.ConfigMapVolumeSource{Items: item}), `volume "v" of pod default/p: configmap "cm" has no key "k"`},
		"object": {corev1.Volume{Name: "v", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "gone"}}}, `secrets "gone" not found`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := m.Mount(t.Context(), podWith(tc.volume))
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %s", err, tc.want)
			}
		})
	}
	optional := ptr.To(true)
	dir := mount(t, m, podWith(configMapVolume(corev1.ConfigMapVolumeSource{Items: item, Optional: optional})))
	if _, err := os.Stat(filepath.Join(dir, "k")); err == nil {
		t.Error("an optional key that is missing is shown")
	}
}

func TestEmptyDirInMemoryIsBoundedAndGoesAway(t *testing.T) {
	m, _ := newManager(t)
	pod := podWith(corev1.Volume{Name: "v", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{
		Medium: corev1.StorageMediumMemory, SizeLimit: ptr.To(resource.MustParse("64Ki"))}}})
	dir := mount(t, m, pod)
	if err := os.WriteFile(filepath.Join(dir, "big"), make([]byte, 128<<10), 0o600); err == nil {
		t.Error("wrote past the size limit")
	}
	// A second mount over the first, as a confused agent would leave it.
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, ""); err != nil {
		t.Fatal(err)
	}
	if err := m.Unmount(t.Context(), pod.UID); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("still there: %v", err)
	}
	if v := m.Volumes(pod.UID); v != nil {
		t.Errorf("still known: %v", v)
	}
	if err := m.Unmount(t.Context(), pod.UID); err != nil {
		t.Errorf("a second Unmount: %v", err)
	}
}

func TestEmptyDirOnDiskKeepsItsContents(t *testing.T) {
	m, _ := newManager(t)
	pod := podWith(corev1.Volume{Name: "v", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}})
	dir := mount(t, m, pod)
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o777 {
		t.Errorf("%v, %v; want mode 0777", info, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "kept"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	mount(t, m, pod)
	if read(t, dir, "kept") != "x" {
		t.Error("lost its contents")
	}
}
