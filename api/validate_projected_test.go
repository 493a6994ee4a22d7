// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

// files are the items of a downwardAPI source, each of a path and a field.
func files(pathsAndFields ...string) *corev1.DownwardAPIVolumeSource {
	d := &corev1.DownwardAPIVolumeSource{}
	for i := 0; i < len(pathsAndFields); i += 2 {
		d.Items = append(d.Items, corev1.DownwardAPIVolumeFile{
			Path: pathsAndFields[i], FieldRef: &corev1.ObjectFieldSelector{FieldPath: pathsAndFields[i+1]}})
	}
	return d
}

func projected(sources ...corev1.VolumeProjection) corev1.VolumeSource {
	return corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: sources}}
}

func configMapAt(name, path string) corev1.VolumeProjection {
	return corev1.VolumeProjection{ConfigMap: &corev1.ConfigMapProjection{
		LocalObjectReference: corev1.LocalObjectReference{Name: name}, Items: []corev1.KeyToPath{{Key: "k", Path: path}}}}
}

func secretAt(name, path string) corev1.VolumeProjection {
	return corev1.VolumeProjection{Secret: &corev1.SecretProjection{
		LocalObjectReference: corev1.LocalObjectReference{Name: name}, Items: []corev1.KeyToPath{{Key: "k", Path: path}}}}
}

func downwardAt(path, field string) corev1.VolumeProjection {
	return corev1.VolumeProjection{DownwardAPI: &corev1.DownwardAPIProjection{Items: files(path, field).Items}}
}

func tokenAt(path string, seconds *int64) corev1.VolumeProjection {
	return corev1.VolumeProjection{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{Path: path, ExpirationSeconds: seconds}}
}

// validateVolumeTable gives a valid pod a volume of that source, with defaults, and
// wants the one error, or none.
func validateVolumeTable(t *testing.T, cases map[string]struct {
	source corev1.VolumeSource
	want   string
}) {
	t.Helper()
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			pod := validPod()
			pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: "v", VolumeSource: tc.source})
			Default(pod)
			errs := ValidateCreate(Pods, pod)
			switch {
			case tc.want == "" && len(errs) > 0:
				t.Errorf("refused: %v", errs)
			case tc.want != "" && (len(errs) != 1 || errs[0].Error() != "spec.volumes[4]."+tc.want):
				t.Errorf("got %v\nwant spec.volumes[4].%s", errs, tc.want)
			}
		})
	}
}

func TestValidateDownwardAPIVolume(t *testing.T) {
	type d = corev1.DownwardAPIVolumeSource
	item := func(change func(*corev1.DownwardAPIVolumeFile)) corev1.VolumeSource {
		v := files("a", "metadata.name")
		change(&v.Items[0])
		return corev1.VolumeSource{DownwardAPI: v}
	}
	cpu := &corev1.ResourceFieldSelector{ContainerName: "web", Resource: "limits.cpu"}
	validateVolumeTable(t, map[string]struct {
		source corev1.VolumeSource
		want   string
	}{
		"all fields": {corev1.VolumeSource{DownwardAPI: files("a", "metadata.labels", "b", "metadata.annotations", "c/d", "metadata.uid",
			"e", "metadata.namespace", "f", "metadata.labels['x']", "g", "metadata.annotations['example.com/X']")}, ""},
		"resource": {item(func(f *corev1.DownwardAPIVolumeFile) { f.FieldRef, f.ResourceFieldRef = nil, cpu }), ""},
		"default mode": {corev1.VolumeSource{DownwardAPI: &d{DefaultMode: ptr.To[int32](0o1000)}},
			"downwardAPI.defaultMode: Invalid value: 512: must be a number between 0 and 0777 (octal), both inclusive"},
		"mode": {item(func(f *corev1.DownwardAPIVolumeFile) { f.Mode = ptr.To[int32](-1) }),
			"downwardAPI.items[0].mode: Invalid value: -1: must be a number between 0 and 0777 (octal), both inclusive"},
		"no path":      {item(func(f *corev1.DownwardAPIVolumeFile) { f.Path = "" }), "downwardAPI.items[0].path: Required value"},
		"path outside": {item(func(f *corev1.DownwardAPIVolumeFile) { f.Path = "a/../b" }), `downwardAPI.items[0].path: Invalid value: "a/../b": must not contain '..'`},
		"reserved path": {item(func(f *corev1.DownwardAPIVolumeFile) { f.Path = "..data" }),
			`downwardAPI.items[0].path: Invalid value: "..data": must not start with '..'`},
		"no value": {item(func(f *corev1.DownwardAPIVolumeFile) { f.FieldRef = nil }),
			"downwardAPI.items[0]: Required value: one of fieldRef and resourceFieldRef is required"},
		"two values": {item(func(f *corev1.DownwardAPIVolumeFile) { f.ResourceFieldRef = cpu }),
			`downwardAPI.items[0]: Invalid value: "resource": fieldRef and resourceFieldRef can not be specified simultaneously`},
		"a field of environments": {item(func(f *corev1.DownwardAPIVolumeFile) { f.FieldRef.FieldPath = "status.podIP" }),
			`downwardAPI.items[0].fieldRef.fieldPath: Unsupported value: "status.podIP": supported values: ` +
				`"metadata.name", "metadata.namespace", "metadata.uid", "metadata.labels", "metadata.annotations", ` +
				`"metadata.labels['<KEY>']", "metadata.annotations['<KEY>']"`},
		"no container": {item(func(f *corev1.DownwardAPIVolumeFile) {
			f.FieldRef, f.ResourceFieldRef = nil, &corev1.ResourceFieldSelector{Resource: "limits.cpu"}
		}), "downwardAPI.items[0].resourceFieldRef.containerName: Required value"},
	})
}

func TestValidateProjectedVolume(t *testing.T) {
	both := configMapAt("c", "a")
	both.Secret = secretAt("s", "a").Secret
	validateVolumeTable(t, map[string]struct {
		source corev1.VolumeSource
		want   string
	}{
		"all sources": {projected(configMapAt("c", "a"), secretAt("s", "b"), downwardAt("c", "metadata.name"), tokenAt("d", nil)), ""},
		"nothing":     {projected(corev1.VolumeProjection{}), ""},
		"default mode": {corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{DefaultMode: ptr.To[int32](0o1000)}},
			"projected.defaultMode: Invalid value: 512: must be a number between 0 and 0777 (octal), both inclusive"},
		"no name":      {projected(configMapAt("", "a")), "projected.sources[0].configMap.name: Required value"},
		"no path":      {projected(secretAt("s", "")), "projected.sources[0].secret.items[0].path: Required value"},
		"one and more": {projected(both), "projected.sources[0].configMap: Forbidden: may not specify more than 1 volume type"},
		"same path": {projected(configMapAt("c", "a"), secretAt("s", "a")),
			`projected.sources[1].secret.items[0].path: Invalid value: "a": conflicting duplicate paths`},
		"same path of a field": {projected(secretAt("s", "a"), downwardAt("a", "metadata.name")),
			`projected.sources[1].downwardAPI.items[0].path: Invalid value: "a": conflicting duplicate paths`},
		"field": {projected(downwardAt("a", "spec.nodeName")),
			`projected.sources[0].downwardAPI.items[0].fieldRef.fieldPath: Unsupported value: "spec.nodeName": supported values: ` +
				`"metadata.name", "metadata.namespace", "metadata.uid", "metadata.labels", "metadata.annotations", ` +
				`"metadata.labels['<KEY>']", "metadata.annotations['<KEY>']"`},
		"short token": {projected(tokenAt("a", ptr.To[int64](599))),
			"projected.sources[0].serviceAccountToken.expirationSeconds: Invalid value: 599: may not specify a duration less than 10 minutes"},
		"long token": {projected(tokenAt("a", ptr.To[int64](1<<32+1))),
			"projected.sources[0].serviceAccountToken.expirationSeconds: Invalid value: 4294967297: may not specify a duration larger than 2^32 seconds"},
		"token without a path": {projected(tokenAt("", nil)), "projected.sources[0].serviceAccountToken.path: Required value"},
		"token outside": {projected(tokenAt("../a", nil)),
			`projected.sources[0].serviceAccountToken.path: Invalid value: "../a": must not contain '..'`},
		"token over a file": {projected(secretAt("s", "a"), tokenAt("a", nil)),
			`projected.sources[1].serviceAccountToken.path: Invalid value: "a": conflicting duplicate paths`},
		"trust bundle": {projected(corev1.VolumeProjection{ClusterTrustBundle: &corev1.ClusterTrustBundleProjection{Path: "a"}}),
			"projected.sources[0].clusterTrustBundle: Forbidden: there are no ClusterTrustBundles"},
		"pod certificate": {projected(corev1.VolumeProjection{PodCertificate: &corev1.PodCertificateProjection{KeyType: "ED25519"}}),
			"projected.sources[0].podCertificate: Forbidden: there are no signers of pod certificates"},
	})
}

func TestValidateImageVolume(t *testing.T) {
	image := func(reference string, policy corev1.PullPolicy) corev1.VolumeSource {
		return corev1.VolumeSource{Image: &corev1.ImageVolumeSource{Reference: reference, PullPolicy: policy}}
	}
	validateVolumeTable(t, map[string]struct {
		source corev1.VolumeSource
		want   string
	}{
		"image":        {image("files:1", corev1.PullNever), ""},
		"no policy":    {image("files:1", ""), ""},
		"no reference": {image("", ""), "image.reference: Required value"},
		"reference":    {image(" files:1", ""), `image.reference: Invalid value: " files:1": must not have leading or trailing whitespace`},
		"policy": {image("files:1", "Often"),
			`image.pullPolicy: Unsupported value: "Often": supported values: "Always", "IfNotPresent", "Never"`},
	})
}

func TestDefaultsOfVolumes(t *testing.T) {
	pod := validPod()
	pod.Spec.Volumes = []corev1.Volume{
		{Name: "d", VolumeSource: corev1.VolumeSource{DownwardAPI: files("a", "metadata.name")}},
		{Name: "i", VolumeSource: corev1.VolumeSource{Image: &corev1.ImageVolumeSource{Reference: "files:1"}}},
		{Name: "l", VolumeSource: corev1.VolumeSource{Image: &corev1.ImageVolumeSource{Reference: "files"}}},
		{Name: "p", VolumeSource: projected(downwardAt("a", "metadata.name"), tokenAt("t", nil))},
	}
	Default(pod)
	d, p := pod.Spec.Volumes[0].DownwardAPI, pod.Spec.Volumes[3].Projected
	if tagged, latest := pod.Spec.Volumes[1].Image.PullPolicy, pod.Spec.Volumes[2].Image.PullPolicy; tagged != corev1.PullIfNotPresent || latest != corev1.PullAlways {
		t.Errorf("images: %s with a tag, %s without", tagged, latest)
	}
	if ptr.Deref(d.DefaultMode, 0) != 0o644 || d.Items[0].FieldRef.APIVersion != "v1" {
		t.Errorf("downwardAPI: %+v", d)
	}
	if ptr.Deref(p.DefaultMode, 0) != 0o644 || p.Sources[0].DownwardAPI.Items[0].FieldRef.APIVersion != "v1" ||
		ptr.Deref(p.Sources[1].ServiceAccountToken.ExpirationSeconds, 0) != 3600 {
		t.Errorf("projected: %+v", p)
	}
}
