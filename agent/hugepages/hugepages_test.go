// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package hugepages

import (
	"maps"
	"os"
	"path/filepath"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

func TestCapacity(t *testing.T) {
	dir := t.TempDir()
	for name, pages := range map[string]string{"hugepages-2048kB": "512\n", "hugepages-1048576kB": "0\n"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name, "nr_hugepages"), []byte(pages), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := capacity(dir)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[corev1.ResourceName]string{"hugepages-2Mi": "1Gi", "hugepages-1Gi": "0"} {
		if q, ok := got[name]; !ok || q.Cmp(resource.MustParse(want)) != 0 {
			t.Errorf("%s: %s, want %s", name, q.String(), want)
		}
	}
	if none, err := capacity(filepath.Join(dir, "none")); none != nil || err != nil {
		t.Errorf("a machine without huge pages: %v, %v", none, err)
	}
}

func TestLimits(t *testing.T) {
	pod := corev1.ResourceList{"hugepages-1Gi": resource.MustParse("2Gi"), "hugepages-64Ki": resource.MustParse("64Ki"), "cpu": resource.MustParse("1")}
	container := corev1.ResourceList{"hugepages-1Gi": resource.MustParse("1Gi")}
	got := Limits(pod, container)
	none := Limits()
	want := maps.Clone(none)
	want["1GB"], want["64KB"] = 1<<30, 64<<10
	if !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	for size, limit := range none {
		if limit != 0 {
			t.Errorf("%s: %d without a request", size, limit)
		}
	}
}
