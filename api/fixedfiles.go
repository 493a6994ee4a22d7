// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// VolumeUpdates is the condition that tells, where it is false, which of a pod's mounts
// do not follow the objects that they show. A pod without such mounts has none.
const VolumeUpdates corev1.PodConditionType = "berth.run/VolumeUpdates"

// FixedFiles are the mounts, each by its path in the pod, that show a part of a volume
// whose files follow their source, such as a key of a ConfigMap: a part is what it was
// when its container started.
func FixedFiles(pod *corev1.Pod) (paths []string) {
	follow := sets.New[string]()
	for i := range pod.Spec.Volumes {
		v := &pod.Spec.Volumes[i]
		if v.ConfigMap != nil || v.Secret != nil || v.DownwardAPI != nil || v.Projected != nil {
			follow.Insert(v.Name)
		}
	}
	eachContainer(&pod.Spec, func(c *corev1.Container, path *field.Path) {
		for i := range c.VolumeMounts {
			m := &c.VolumeMounts[i]
			if follow.Has(m.Name) && (m.SubPath != "" || m.SubPathExpr != "") {
				paths = append(paths, path.Child("volumeMounts").Index(i).String())
			}
		}
	})
	return paths
}

func fixedFileWarnings(pod *corev1.Pod) (out []string) {
	for _, path := range FixedFiles(pod) {
		out = append(out, fmt.Sprintf("%s: with a subPath, files do not follow changes until the container is restarted", path))
	}
	return out
}
