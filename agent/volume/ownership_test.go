// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package volume

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

// has is the mode and group of a path, links not followed.
type has struct {
	mode fs.FileMode
	gid  uint32
}

func wantOwned(t *testing.T, want map[string]has) {
	t.Helper()
	for path, want := range want {
		info, err := os.Stat(path)
		if err != nil {
			t.Error(err)
			continue
		}
		if got := (has{info.Mode(), info.Sys().(*syscall.Stat_t).Gid}); got != want {
			t.Errorf("%s: %v of %d, want %v of %d", path, got.mode, got.gid, want.mode, want.gid)
		}
	}
}

func withGroup(pod *corev1.Pod) *corev1.Pod {
	pod.Spec.SecurityContext = &corev1.PodSecurityContext{FSGroup: ptr.To(int64(1234))}
	return pod
}

func anEmptyDir(source corev1.EmptyDirVolumeSource) *corev1.Pod {
	return podWith(corev1.Volume{Name: "v", VolumeSource: corev1.VolumeSource{EmptyDir: &source}})
}

func TestEmptyDirsHaveTheirModeAndGroup(t *testing.T) {
	const dir = fs.ModeDir
	for name, tc := range map[string]struct {
		pod  *corev1.Pod
		want has
	}{
		"on disk":             {anEmptyDir(corev1.EmptyDirVolumeSource{}), has{dir | 0o777, 0}},
		"in memory":           {anEmptyDir(corev1.EmptyDirVolumeSource{Medium: "Memory"}), has{dir | 0o777, 0}},
		"of a group":          {withGroup(anEmptyDir(corev1.EmptyDirVolumeSource{})), has{dir | fs.ModeSetgid | 0o777, 1234}},
		"of a group, memory":  {withGroup(anEmptyDir(corev1.EmptyDirVolumeSource{Medium: "Memory"})), has{dir | fs.ModeSetgid | 0o777, 1234}},
		"with a mode":         {anEmptyDir(corev1.EmptyDirVolumeSource{Mode: ptr.To(int32(0o1750))}), has{dir | fs.ModeSticky | 0o750, 0}},
		"with a mode, memory": {anEmptyDir(corev1.EmptyDirVolumeSource{Medium: "Memory", Mode: ptr.To(int32(0o700))}), has{dir | 0o700, 0}},
		"both":                {withGroup(anEmptyDir(corev1.EmptyDirVolumeSource{Mode: ptr.To(int32(0o700))})), has{dir | fs.ModeSetgid | 0o770, 1234}},
	} {
		t.Run(name, func(t *testing.T) {
			m, _ := newManager(t)
			wantOwned(t, map[string]has{mount(t, m, tc.pod): tc.want})
		})
	}
}

func TestAnEmptyDirStaysAsItsContainersHaveIt(t *testing.T) {
	m, _ := newManager(t)
	pod := withGroup(anEmptyDir(corev1.EmptyDirVolumeSource{}))
	dir := mount(t, m, pod)
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Mount(t.Context(), pod); err != nil {
		t.Fatal(err)
	}
	wantOwned(t, map[string]has{dir: {fs.ModeDir | 0o700, 1234}})
}

func TestFilesAreReadableByTheGroup(t *testing.T) {
	m, objects := newManager(t)
	objects.configMaps["cm"] = &corev1.ConfigMap{Data: map[string]string{"k": "v"}}
	source := corev1.ConfigMapVolumeSource{Items: []corev1.KeyToPath{{Key: "k", Path: "a/k"}}, DefaultMode: ptr.To(int32(0o400))}
	pod := withGroup(podWith(configMapVolume(source)))
	dir := mount(t, m, pod)
	want := map[string]has{
		dir:                          {fs.ModeDir | fs.ModeSetgid | 0o755, 1234},
		filepath.Join(dir, "a"):      {fs.ModeDir | fs.ModeSetgid | 0o755, 1234},
		filepath.Join(dir, "a", "k"): {0o440, 1234},
	}
	wantOwned(t, want)
	before, _ := os.Readlink(filepath.Join(dir, dataLink))
	if _, err := m.Mount(t.Context(), pod); err != nil {
		t.Fatal(err)
	}
	if after, _ := os.Readlink(filepath.Join(dir, dataLink)); after != before {
		t.Error("the same files were written again")
	}
	objects.configMaps["cm"] = &corev1.ConfigMap{Data: map[string]string{"k": "new"}}
	if _, err := m.Mount(t.Context(), pod); err != nil {
		t.Fatal(err)
	}
	wantOwned(t, want)
}
