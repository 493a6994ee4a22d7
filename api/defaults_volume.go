// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import corev1 "k8s.io/api/core/v1"

// defaultVolume makes a volume without a source an emptyDir.
func defaultVolume(v *corev1.VolumeSource) {
	switch {
	case v.HostPath != nil:
		setDefaultPointer(&v.HostPath.Type, corev1.HostPathUnset)
	case v.ConfigMap != nil:
		setDefaultPointer(&v.ConfigMap.DefaultMode, corev1.ConfigMapVolumeSourceDefaultMode)
	case v.Secret != nil:
		setDefaultPointer(&v.Secret.DefaultMode, corev1.SecretVolumeSourceDefaultMode)
	case v.DownwardAPI != nil:
		setDefaultPointer(&v.DownwardAPI.DefaultMode, corev1.DownwardAPIVolumeSourceDefaultMode)
		defaultDownwardFiles(v.DownwardAPI.Items)
	case v.Image != nil:
		setDefault(&v.Image.PullPolicy, defaultPullPolicy(v.Image.Reference))
	case v.Projected != nil:
		defaultProjected(v.Projected)
	case *v == corev1.VolumeSource{}:
		v.EmptyDir = &corev1.EmptyDirVolumeSource{}
	}
}

func defaultProjected(v *corev1.ProjectedVolumeSource) {
	setDefaultPointer(&v.DefaultMode, corev1.ProjectedVolumeSourceDefaultMode)
	for i := range v.Sources {
		s := &v.Sources[i]
		if s.DownwardAPI != nil {
			defaultDownwardFiles(s.DownwardAPI.Items)
		}
		if s.ServiceAccountToken != nil {
			setDefaultPointer(&s.ServiceAccountToken.ExpirationSeconds, defaultTokenSeconds)
		}
	}
}

func defaultDownwardFiles(items []corev1.DownwardAPIVolumeFile) {
	for i := range items {
		if ref := items[i].FieldRef; ref != nil {
			setDefault(&ref.APIVersion, "v1")
		}
	}
}
