// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podruntime

import (
	"context"
	"fmt"
	"path"

	corev1 "k8s.io/api/core/v1"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/berth-run/berth/agent/podruntime/images"
)

// The files of an image volume are the runtime's to mount: the node brings the image
// as it brings those of containers, and names it in the mount.

// imageMount shows an image, or a part of it, read-only. It names the image by its
// reference until that is here.
func imageMount(m *corev1.VolumeMount, source *corev1.ImageVolumeSource, vars map[string]string) (*runtimeapi.Mount, error) {
	part, err := subPath(m, vars)
	if err != nil {
		return nil, fmt.Errorf("subPath of volumeMount %q: %w", m.Name, err)
	}
	return &runtimeapi.Mount{
		ContainerPath: path.Join("/", m.MountPath),
		Readonly:      true,
		Image:         &runtimeapi.ImageSpec{Image: source.Reference, UserSpecifiedImage: source.Reference},
		ImageSubPath:  part,
	}, nil
}

// ensureVolumes begins to bring the images of the volumes that the container mounts,
// by reference. Those that another container of the sync mounts are in all already.
func (s *podSync) ensureVolumes(ctx context.Context, c *corev1.Container, all map[string]*imageWait) map[string]*imageWait {
	mounted := map[string]*imageWait{}
	for _, m := range c.VolumeMounts {
		v := imageVolume(s.pod, m.Name)
		if v == nil {
			continue
		}
		if all[v.Name] == nil {
			all[v.Name] = s.ensureImage(ctx, images.Request{
				Pod: s.pod, PullSecrets: s.pullSecrets, FieldPath: fmt.Sprintf("spec.volumes{%s}", v.Name),
				Container: &corev1.Container{Name: v.Name, Image: v.Image.Reference, ImagePullPolicy: v.Image.PullPolicy},
			})
		}
		mounted[v.Image.Reference] = all[v.Name]
	}
	return mounted
}

func imageVolume(pod *corev1.Pod, name string) *corev1.Volume {
	for i := range pod.Spec.Volumes {
		if v := &pod.Spec.Volumes[i]; v.Name == name && v.Image != nil {
			return v
		}
	}
	return nil
}

// settleImageMounts waits for the images that are mounted, and names each by its id.
func settleImageMounts(ctx context.Context, mounts []*runtimeapi.Mount, volumes map[string]*imageWait, slot *startSlot) error {
	for _, m := range mounts {
		if m.Image == nil {
			continue
		}
		id, err := volumes[m.Image.UserSpecifiedImage].wait(ctx, slot)
		if err != nil {
			return err
		}
		m.Image.Image = id
	}
	return nil
}
