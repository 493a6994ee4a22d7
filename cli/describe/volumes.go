// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package describe

import (
	"cmp"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

func (p *page) volumes(list []corev1.Volume) {
	if len(list) == 0 {
		p.field("Volumes", none)
		return
	}
	p.section("Volumes", func() {
		for i := range list {
			p.section(list[i].Name, func() { p.volume(&list[i].VolumeSource) })
		}
	})
}

func (p *page) volume(v *corev1.VolumeSource) {
	switch {
	case v.EmptyDir != nil:
		p.field("Type", "EmptyDir (a temporary directory that shares a pod's lifetime)")
		p.given("Medium", string(v.EmptyDir.Medium))
		if limit := v.EmptyDir.SizeLimit; limit != nil {
			p.field("SizeLimit", limit)
		}
	case v.HostPath != nil:
		p.field("Type", "HostPath (a directory or file of the node)")
		p.field("Path", v.HostPath.Path)
		p.field("HostPathType", cmp.Or(string(ptr.Deref(v.HostPath.Type, "")), none))
	case v.Secret != nil:
		p.field("Type", "Secret (a volume populated by a Secret)")
		p.field("SecretName", v.Secret.SecretName)
		p.field("Optional", ptr.Deref(v.Secret.Optional, false))
	case v.ConfigMap != nil:
		p.field("Type", "ConfigMap (a volume populated by a ConfigMap)")
		p.field("Name", v.ConfigMap.Name)
		p.field("Optional", ptr.Deref(v.ConfigMap.Optional, false))
	case v.DownwardAPI != nil:
		p.downwardAPI(v.DownwardAPI)
	case v.Projected != nil:
		p.projected(v.Projected)
	case v.Image != nil:
		p.image(v.Image)
	default:
		p.field("Type", "another, which berth get -o yaml shows")
	}
}
