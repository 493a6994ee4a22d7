// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package hugepages knows the machine's huge pages: memory in pages of more than the
// usual size, set aside by the operator and promised to pods whole.
package hugepages

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/opencontainers/cgroups"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/berth-run/berth/api"
)

// sysfs has a directory of each size, such as hugepages-2048kB.
const sysfs = "/sys/kernel/mm/hugepages"

// Capacity returns the huge pages that the machine has, by the names of resources.
func Capacity() (corev1.ResourceList, error) { return capacity(sysfs) }

func capacity(dir string) (corev1.ResourceList, error) {
	entries, err := os.ReadDir(dir)
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("huge pages: %w", err)
	}
	list := corev1.ResourceList{}
	for _, e := range entries {
		kilobytes, err := number(strings.TrimSuffix(strings.TrimPrefix(e.Name(), "hugepages-"), "kB"))
		if err != nil {
			return nil, fmt.Errorf("huge pages: %s: %w", e.Name(), err)
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name(), "nr_hugepages"))
		if err != nil {
			return nil, fmt.Errorf("huge pages: %w", err)
		}
		pages, err := number(strings.TrimSpace(string(text)))
		if err != nil {
			return nil, fmt.Errorf("huge pages: %s: %w", e.Name(), err)
		}
		size := resource.NewQuantity(kilobytes<<10, resource.BinarySI)
		list[corev1.ResourceName(corev1.ResourceHugePagesPrefix+size.String())] = *resource.NewQuantity(pages*kilobytes<<10, resource.BinarySI)
	}
	return list, nil
}

func number(text string) (int64, error) { return strconv.ParseInt(text, 10, 64) }

// Limits returns how many bytes of huge pages of each size that the machine has may be
// used, by the kernel's names of the sizes, such as 2MB. Of what the lists do not name
// there are none; a later list goes before an earlier one.
func Limits(lists ...corev1.ResourceList) map[string]uint64 {
	limits := map[string]uint64{}
	for _, size := range cgroups.HugePageSizes() {
		limits[size] = 0
	}
	for _, list := range lists {
		for name, q := range list {
			if size, err := api.HugePageSize(name); api.IsHugePages(name) && err == nil {
				limits[sizeName(size.Value())] = uint64(q.Value())
			}
		}
	}
	return limits
}

// sizeName is the size of a page as the files of cgroups have it.
func sizeName(bytes int64) string {
	for _, unit := range []struct {
		bytes int64
		name  string
	}{{1 << 30, "GB"}, {1 << 20, "MB"}} {
		if bytes >= unit.bytes {
			return fmt.Sprintf("%d%s", bytes/unit.bytes, unit.name)
		}
	}
	return fmt.Sprintf("%dKB", bytes>>10)
}
