// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package describe

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

func (p *page) downwardAPI(v *corev1.DownwardAPIVolumeSource) {
	p.field("Type", "DownwardAPI (a volume populated by information about the pod)")
	p.downwardFiles(v.Items)
}

func (p *page) downwardFiles(items []corev1.DownwardAPIVolumeFile) {
	for i := range items {
		item := &items[i]
		switch {
		case item.FieldRef != nil:
			p.field(item.Path, item.FieldRef.FieldPath)
		case item.ResourceFieldRef != nil:
			p.field(item.Path, item.ResourceFieldRef.Resource+" of "+item.ResourceFieldRef.ContainerName)
		}
	}
}

func (p *page) projected(v *corev1.ProjectedVolumeSource) {
	p.field("Type", "Projected (a volume that contains injected data from multiple sources)")
	for _, s := range v.Sources {
		switch {
		case s.Secret != nil:
			p.field("SecretName", s.Secret.Name)
			p.field("Optional", ptr.Deref(s.Secret.Optional, false))
		case s.ConfigMap != nil:
			p.field("ConfigMapName", s.ConfigMap.Name)
			p.field("Optional", ptr.Deref(s.ConfigMap.Optional, false))
		case s.DownwardAPI != nil:
			p.downwardFiles(s.DownwardAPI.Items)
		case s.ServiceAccountToken != nil:
			p.field("TokenExpirationSeconds", ptr.Deref(s.ServiceAccountToken.ExpirationSeconds, 0))
		}
	}
}

func (p *page) image(v *corev1.ImageVolumeSource) {
	p.field("Type", "Image (a container image or OCI artifact)")
	p.field("Reference", v.Reference)
	p.field("PullPolicy", v.PullPolicy)
}
