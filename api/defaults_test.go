// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

func TestDefaultPod(t *testing.T) {
	pod := &corev1.Pod{Spec: corev1.PodSpec{
		HostNetwork:        true,
		ServiceAccountName: "default",
		Containers: []corev1.Container{{
			Name: "a", Image: "nginx", Ports: []corev1.ContainerPort{{ContainerPort: 80}},
			Env: []corev1.EnvVar{{Name: "N", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.name"}}}},
			Resources: corev1.ResourceRequirements{
				Limits:   corev1.ResourceList{"cpu": resource.MustParse("2"), "memory": resource.MustParse("1Gi")},
				Requests: corev1.ResourceList{"cpu": resource.MustParse("1")},
			},
		}},
		Volumes: []corev1.Volume{
			{Name: "none"},
			{Name: "host", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/a"}}},
			{Name: "conf", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{}}},
			{Name: "sec", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{}}},
		},
	}}
	want := pod.DeepCopy()
	spec := &want.Spec
	spec.RestartPolicy, spec.DNSPolicy, spec.SchedulerName = corev1.RestartPolicyAlways, corev1.DNSClusterFirst, "default-scheduler"
	spec.TerminationGracePeriodSeconds, spec.EnableServiceLinks = ptr.To(int64(30)), ptr.To(true)
	spec.SecurityContext, spec.DeprecatedServiceAccount = &corev1.PodSecurityContext{}, "default"
	c := &spec.Containers[0]
	c.ImagePullPolicy = corev1.PullAlways
	c.TerminationMessagePath, c.TerminationMessagePolicy = "/dev/termination-log", corev1.TerminationMessageReadFile
	c.Ports[0].Protocol, c.Ports[0].HostPort = corev1.ProtocolTCP, 80
	c.Env[0].ValueFrom.FieldRef.APIVersion = "v1"
	c.Resources.Requests["memory"] = resource.MustParse("1Gi")
	spec.Volumes[0].EmptyDir = &corev1.EmptyDirVolumeSource{}
	spec.Volumes[1].HostPath.Type = ptr.To(corev1.HostPathUnset)
	spec.Volumes[2].ConfigMap.DefaultMode = ptr.To(int32(0o644))
	spec.Volumes[3].Secret.DefaultMode = ptr.To(int32(0o644))
	want.Status = corev1.PodStatus{Phase: corev1.PodPending, QOSClass: corev1.PodQOSBurstable}

	for range 2 { // the second time changes nothing
		Default(pod)
		if !apiequality.Semantic.DeepEqual(want, pod) {
			t.Fatal(diff(want, pod))
		}
	}
}

func TestDefaultPullPolicy(t *testing.T) {
	for image, want := range map[string]corev1.PullPolicy{
		"nginx":                           corev1.PullAlways,
		"nginx:latest":                    corev1.PullAlways,
		"nginx:1.14.2":                    corev1.PullIfNotPresent,
		"localhost:5000/nginx":            corev1.PullAlways,
		"localhost:5000/nginx:1":          corev1.PullIfNotPresent,
		"nginx@sha256:0123":               corev1.PullIfNotPresent,
		"nginx:latest@sha256:0123":        corev1.PullIfNotPresent,
		"registry.example.com/a/b:v1.0":   corev1.PullIfNotPresent,
		"registry.example.com/a/b:latest": corev1.PullAlways,
	} {
		if got := defaultPullPolicy(image); got != want {
			t.Errorf("%s: %s, want %s", image, got, want)
		}
	}
}

func TestDefaultSecret(t *testing.T) {
	s := &corev1.Secret{Data: map[string][]byte{"a": []byte("old"), "b": []byte("b")}, StringData: map[string]string{"a": "new"}}
	before := s.Data
	Default(s)
	want := &corev1.Secret{Type: corev1.SecretTypeOpaque, Data: map[string][]byte{"a": []byte("new"), "b": []byte("b")}}
	if !apiequality.Semantic.DeepEqual(want, s) {
		t.Error(diff(want, s))
	}
	if string(before["a"]) != "old" {
		t.Error("the map that was given has changed")
	}
}

func TestDefaultNamespace(t *testing.T) {
	labels := map[string]string{"b": "c", "kubernetes.io/metadata.name": "a"}
	kubernetes := []corev1.FinalizerName{"kubernetes"}
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "a", Labels: map[string]string{"b": "c"}}}
	want := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "a", Labels: labels}, Spec: corev1.NamespaceSpec{Finalizers: kubernetes}}
	for range 2 {
		if Default(ns); !apiequality.Semantic.DeepEqual(want, ns) {
			t.Error(diff(want, ns))
		}
	}
	emptied := want.DeepCopy()
	emptied.DeletionTimestamp, emptied.Spec.Finalizers = &metav1.Time{}, nil
	if Default(emptied); len(emptied.Spec.Finalizers) > 0 {
		t.Error("the finalizer of a namespace that is being deleted has come back")
	}
}
