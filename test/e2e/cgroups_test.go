// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// A node without pods has cgroups without processes, which anyone may remove. Pods
// start all the same, whatever is missing, and bounded as before.
func TestPodsStartAfterTheNodesCgroupsWereRemoved(t *testing.T) {
	w := own(t, 1)
	root := "berth-" + w.Nodes[0].ID
	all := append(match(t, "/sys/fs/cgroup/*/"+root), match(t, "/sys/fs/cgroup/"+root)...)
	if len(all) == 0 {
		t.Fatal("the node has no cgroups")
	}
	for name, dirs := range map[string][]string{
		"all": all, "cpu": match(t, "/sys/fs/cgroup/cpu/"+root), "memory": match(t, "/sys/fs/cgroup/memory/"+root),
	} {
		for _, dir := range dirs {
			removeCgroup(t, dir)
		}
		c := app("c", "serve", "80")
		c.Resources.Limits = corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("64Mi")}
		w.create(pod(name, c))
		p := w.ready(name)
		limits := append(match(t, "/sys/fs/cgroup/memory/"+root+"/*/pod"+string(p.UID)+"/memory.limit_in_bytes"),
			match(t, "/sys/fs/cgroup/"+root+"/*/pod"+string(p.UID)+"/memory.max")...)
		if len(limits) != 1 {
			t.Fatalf("%s: the pod's limits are %v", name, limits)
		}
		if text, err := os.ReadFile(limits[0]); err != nil || string(text) != "67108864\n" {
			t.Errorf("%s: %s is %q, %v", name, limits[0], text, err)
		}
		w.delete(name, 0)
		w.gone(name, testTimeout)
		w.runtime(w.Nodes[0]).clean(p.UID)
	}
}

func match(t *testing.T, pattern string) []string {
	t.Helper()
	found, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// removeCgroup removes a cgroup and those below it, as rmdir does.
func removeCgroup(t *testing.T, dir string) {
	t.Helper()
	for _, child := range match(t, filepath.Join(dir, "*", "cgroup.procs")) {
		removeCgroup(t, filepath.Dir(child))
	}
	if err := unix.Rmdir(dir); err != nil {
		out, _ := exec.Command("find", dir, "-name", "cgroup.procs", "-exec", "cat", "{}", "+").CombinedOutput()
		t.Fatalf("rmdir %s: %v; it has %s", dir, err, out)
	}
}
