// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podruntime

import (
	"fmt"
	"path"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// volumeMounts puts the pod's volumes where the container asks for them. vars are the
// container's environment.
func (r *Runtime) volumeMounts(uid types.UID, c *corev1.Container, vars map[string]string) ([]*runtimeapi.Mount, error) {
	volumes, supported := r.cfg.Volumes(uid), readOnlyRecursively(r.cfg.Handlers(), defaultHandler)
	var all []*runtimeapi.Mount
	for i := range c.VolumeMounts {
		m := &c.VolumeMounts[i]
		volume, ok := volumes[m.Name]
		if !ok {
			return nil, fmt.Errorf("volume %q is not mounted on the node", m.Name)
		}
		if volume.Image != nil {
			mount, err := imageMount(m, volume.Image, vars)
			if err != nil {
				return nil, err
			}
			all = append(all, mount)
			continue
		}
		source, err := r.mountSource(uid, c, i, volume, vars)
		if err != nil {
			return nil, err
		}
		recursive, err := recursiveReadOnly(m, supported)
		if err != nil {
			return nil, err
		}
		all = append(all, &runtimeapi.Mount{
			ContainerPath:     path.Join("/", m.MountPath),
			HostPath:          source,
			Readonly:          m.ReadOnly,
			RecursiveReadOnly: recursive,
			Propagation:       propagation(m.MountPropagation),
		})
	}
	return all, nil
}

func propagation(mode *corev1.MountPropagationMode) runtimeapi.MountPropagation {
	if mode == nil {
		return runtimeapi.MountPropagation_PROPAGATION_PRIVATE
	}
	switch *mode {
	case corev1.MountPropagationHostToContainer:
		return runtimeapi.MountPropagation_PROPAGATION_HOST_TO_CONTAINER
	case corev1.MountPropagationBidirectional:
		return runtimeapi.MountPropagation_PROPAGATION_BIDIRECTIONAL
	}
	return runtimeapi.MountPropagation_PROPAGATION_PRIVATE
}

func hasMount(all []*runtimeapi.Mount, containerPath string) bool {
	for _, m := range all {
		if m.GetContainerPath() == path.Clean(containerPath) {
			return true
		}
	}
	return false
}
