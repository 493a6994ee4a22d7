// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package cgroup

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/opencontainers/cgroups"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// plainV2 is version 2 over a plain directory tree. It does the kernel's part: a new
// cgroup has the controllers that its parent hands down.
type plainV2 struct{ *v2 }

func (p plainV2) ensure(path string, fresh, present *cgroups.Resources) error {
	dir := filepath.Join(p.mount, path)
	if _, err := os.Stat(dir); err == nil {
		return p.v2.ensure(path, fresh, present)
	}
	if err := p.v2.ensure(path, nil, nil); err != nil {
		return err
	}
	handedDown := strings.ReplaceAll(p.file(filepath.Dir(path), "cgroup.subtree_control"), "+", "")
	if err := os.WriteFile(filepath.Join(dir, "cgroup.controllers"), []byte(handedDown), 0o600); err != nil {
		return err
	}
	return p.v2.ensure(path, nil, fresh)
}

// file returns a file of the cgroup, empty if there is none.
func (p plainV2) file(path, name string) string {
	text, _ := os.ReadFile(filepath.Join(p.mount, path, name))
	return string(text)
}

func newPlainV2(t *testing.T) (*Manager, plainV2) {
	t.Helper()
	cgroups.TestMode = true
	t.Cleanup(func() { cgroups.TestMode = false })
	mount := t.TempDir()
	if err := os.WriteFile(filepath.Join(mount, "cgroup.controllers"), []byte("cpuset cpu io memory pids\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	tree, err := newV2(mount, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	plain := plainV2{tree}
	m := &Manager{root: "/berth-01234567", tree: plain}
	if err := m.Setup(); err != nil {
		t.Fatal(err)
	}
	return m, plain
}

func TestV2FiguresAreWeights(t *testing.T) {
	m, plain := newPlainV2(t)
	burstable := pod("b", container("250m", "500m", "16Mi", "32Mi"))
	guaranteed := pod("g", container("1", "1", "64Mi", "64Mi"))
	bestEffort := pod("e", container("", "", "", ""))
	for _, p := range []*corev1.Pod{burstable, guaranteed, bestEffort} {
		if err := m.EnsurePod(p); err != nil {
			t.Fatal(err)
		}
	}
	if err := m.UpdateQOS([]*corev1.Pod{burstable, guaranteed, bestEffort}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []struct{ path, file, content string }{
		{"/berth-01234567", "cgroup.controllers", "cpuset cpu io memory pids"},
		{"/berth-01234567/burstable", "cpu.weight", "35"},
		{"/berth-01234567/burstable/podb", "cgroup.controllers", "cpuset cpu io memory pids"},
		{"/berth-01234567/burstable/podb", "cpu.weight", "35"},
		{"/berth-01234567/burstable/podb", "cpu.max", "50000 100000"},
		{"/berth-01234567/burstable/podb", "memory.max", "33554432"},
		{"/berth-01234567/podg", "cpu.weight", "100"},
		{"/berth-01234567/podg", "cpu.max", "100000 100000"},
		{"/berth-01234567/besteffort", "cpu.weight", "1"},
		{"/berth-01234567/besteffort/pode", "cpu.weight", "1"},
		{"/berth-01234567/besteffort/pode", "cpu.max", ""},
		{"/berth-01234567/besteffort/pode", "memory.max", ""},
	} {
		if got := plain.file(want.path, want.file); got != want.content {
			t.Errorf("%s/%s is %q, want %q", want.path, want.file, got, want.content)
		}
	}
	if found, err := m.Pods(); err != nil || !cmp.Equal(found, []types.UID{"b", "e", "g"}) {
		t.Errorf("Pods = %v, %v", found, err)
	}
}

func TestV2LimitsAreLifted(t *testing.T) {
	m, plain := newPlainV2(t)
	p := pod("b", container("250m", "500m", "16Mi", "32Mi"))
	if err := m.EnsurePod(p); err != nil {
		t.Fatal(err)
	}
	p.Spec.Containers = []corev1.Container{container("250m", "", "16Mi", "")}
	if err := m.EnsurePod(p); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{"cpu.max": "max 100000", "memory.max": "max"} {
		if got := plain.file(m.PodPath(p), file); got != want {
			t.Errorf("%s is %q, want %q", file, got, want)
		}
	}
}

func TestV2InAContainerLeavesTheRoot(t *testing.T) {
	for name, test := range map[string]struct {
		files map[string]string
		moved string
	}{
		"the machine's root":    {map[string]string{"cgroup.procs": "1\n2\n"}, ""},
		"a container's root":    {map[string]string{"cgroup.procs": "17\n", "cgroup.type": "domain\n"}, "17"},
		"a container left once": {map[string]string{"cgroup.procs": "", "cgroup.type": "domain\n"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			cgroups.TestMode = true
			t.Cleanup(func() { cgroups.TestMode = false })
			mount := t.TempDir()
			for file, content := range test.files {
				if err := os.WriteFile(filepath.Join(mount, file), []byte(content), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if err := vacate(mount); err != nil {
				t.Fatal(err)
			}
			if moved, _ := os.ReadFile(filepath.Join(mount, leaf, "cgroup.procs")); string(moved) != test.moved {
				t.Errorf("moved %q, want %q", moved, test.moved)
			}
		})
	}
}

// An agent that starts again must not touch the weight of pods that run.
func TestRestartKeepsWhatExists(t *testing.T) {
	m, plain := newPlainV2(t)
	if err := m.UpdateQOS([]*corev1.Pod{pod("b", container("1", "", "", ""))}); err != nil {
		t.Fatal(err)
	}
	again := &Manager{root: m.root, tree: plain}
	if err := again.Setup(); err != nil {
		t.Fatal(err)
	}
	if got := plain.file(m.root+"/burstable", "cpu.weight"); got != "100" {
		t.Errorf("burstable weighs %q after the second start, want 100", got)
	}
}

// A class that was removed by hand comes back with the controllers handed down.
func TestV2RemakesWhatIsAbove(t *testing.T) {
	m, plain := newPlainV2(t)
	if err := m.UpdateQOS([]*corev1.Pod{pod("runs", container("1", "", "", ""))}); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(plain.mount, m.root)); err != nil {
		t.Fatal(err)
	}
	if err := m.EnsurePod(pod("b", container("250m", "500m", "16Mi", "32Mi"))); err != nil {
		t.Fatal(err)
	}
	for _, want := range []struct{ path, file, content string }{
		{m.root + "/burstable", "cpu.weight", "100"},
		{m.root + "/burstable/podb", "cgroup.controllers", "cpuset cpu io memory pids"},
		{m.root + "/burstable/podb", "memory.max", "33554432"},
	} {
		if got := plain.file(want.path, want.file); got != want.content {
			t.Errorf("%s/%s is %q, want %q", want.path, want.file, got, want.content)
		}
	}
}
