// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package eviction

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/berth-run/berth/api"
)

// Usage is what a pod takes of the node's disk, in bytes.
type Usage struct {
	// EmptyDirs by the volume's name; those in memory are bounded by themselves.
	EmptyDirs map[string]int64
	// Containers are their writable layers and logs, by name.
	Containers map[string]int64
}

// total is what counts against the limit of the pod as a whole.
func (u Usage) total() (sum int64) {
	for _, bytes := range u.EmptyDirs {
		sum += bytes
	}
	for _, bytes := range u.Containers {
		sum += bytes
	}
	return sum
}

// isLimited tells whether there is something to measure a pod against.
func isLimited(pod *corev1.Pod) bool {
	return len(limitedDirs(pod)) > 0 || limitsStorage(pod)
}

// limitsStorage tells whether a container, and so the pod, has a limit of storage.
func limitsStorage(pod *corev1.Pod) bool {
	limit := storageLimit(pod)
	return !limit.IsZero()
}

// storageLimit is what the limits of the containers come to, those that have one.
func storageLimit(pod *corev1.Pod) resource.Quantity {
	return api.PodLimits(pod)[corev1.ResourceEphemeralStorage]
}

// limitedDirs are the limits of the emptyDirs on disk that have one.
func limitedDirs(pod *corev1.Pod) map[string]resource.Quantity {
	limits := map[string]resource.Quantity{}
	for _, v := range pod.Spec.Volumes {
		if onDisk(&v) && v.EmptyDir.SizeLimit != nil && v.EmptyDir.SizeLimit.Sign() > 0 {
			limits[v.Name] = *v.EmptyDir.SizeLimit
		}
	}
	return limits
}

func onDisk(v *corev1.Volume) bool {
	return v.EmptyDir != nil && v.EmptyDir.Medium == corev1.StorageMediumDefault
}

// exceeded says, in the kubelet's words and by its order, which limit the pod is
// beyond; empty if none.
func exceeded(pod *corev1.Pod, usage Usage) string {
	for _, check := range []func(*corev1.Pod, Usage) string{exceededEmptyDir, exceededPod, exceededContainer} {
		if why := check(pod, usage); why != "" {
			return why
		}
	}
	return ""
}

func exceededEmptyDir(pod *corev1.Pod, usage Usage) string {
	limits := limitedDirs(pod)
	for _, v := range pod.Spec.Volumes {
		if limit, ok := limits[v.Name]; ok && usage.EmptyDirs[v.Name] > limit.Value() {
			return fmt.Sprintf("Usage of EmptyDir volume %q exceeds the limit %q. ", v.Name, limit.String())
		}
	}
	return ""
}

func exceededPod(pod *corev1.Pod, usage Usage) string {
	limit := storageLimit(pod)
	if limit.IsZero() || usage.total() <= limit.Value() {
		return ""
	}
	return fmt.Sprintf("Pod ephemeral local storage usage exceeds the total limit of containers %s. ", limit.String())
}

func exceededContainer(pod *corev1.Pod, usage Usage) string {
	for _, list := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range list {
			limit := list[i].Resources.Limits.StorageEphemeral()
			if !limit.IsZero() && usage.Containers[list[i].Name] > limit.Value() {
				return fmt.Sprintf("Container %s exceeded its local ephemeral storage limit %q. ", list[i].Name, limit.String())
			}
		}
	}
	return ""
}
