// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package volume

import (
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-run/berth/api"
)

// pageSize is that of an emptyDir's huge pages, in bytes. The medium HugePages leaves
// it to what the pod requests, which then must be pages of one size.
func pageSize(pod *corev1.Pod, medium corev1.StorageMedium) (int64, error) {
	requested := map[corev1.ResourceName]bool{}
	for name := range api.PodRequests(pod) {
		if api.IsHugePages(name) {
			requested[name] = true
		}
	}
	if medium != corev1.StorageMediumHugePages {
		name := corev1.ResourceHugePagesPrefix + strings.TrimPrefix(string(medium), string(corev1.StorageMediumHugePagesPrefix))
		if !requested[corev1.ResourceName(name)] {
			return 0, fmt.Errorf("medium %s: no container requests %s", medium, name)
		}
		return sizeOf(corev1.ResourceName(name))
	}
	if len(requested) != 1 {
		return 0, errors.New("medium HugePages: the containers must request huge pages of one size")
	}
	for name := range requested {
		return sizeOf(name)
	}
	return 0, nil
}

func sizeOf(name corev1.ResourceName) (int64, error) {
	size, err := api.HugePageSize(name)
	if err != nil {
		return 0, fmt.Errorf("size of %s: %w", name, err)
	}
	return size.Value(), nil
}
