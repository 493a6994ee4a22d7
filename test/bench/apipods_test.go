// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// absentNode is where the pods are bound: nothing runs them, and they are removed
// at once.
const absentNode = "absent"

// podName is the name of the i-th pod of a run.
func podName(i int) string { return fmt.Sprintf("load-%06d", i) }

// loadPod is a pod as a deployment's: about 1.5 kB of JSON once it is stored.
func loadPod(i int) *corev1.Pod {
	grace := int64(30)
	return &corev1.Pod{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{
			Name: podName(i), Namespace: metav1.NamespaceDefault,
			Labels:      map[string]string{"app.kubernetes.io/name": "web", "app.kubernetes.io/instance": podName(i), "tier": "frontend"},
			Annotations: map[string]string{"example.com/revision": "6a1f7c4f0c1d9b2e", "example.com/owner": "team-web"},
		},
		Spec: corev1.PodSpec{
			NodeName: absentNode, TerminationGracePeriodSeconds: &grace,
			Volumes: []corev1.Volume{
				{Name: "config", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
					LocalObjectReference: corev1.LocalObjectReference{Name: "web-config"}}}},
				{Name: "cache", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
			},
			Containers: []corev1.Container{loadContainer()},
		},
	}
}

func loadContainer() corev1.Container {
	return corev1.Container{
		Name: "web", Image: "registry.example.com/web/frontend:1.27.3",
		Args:  []string{"--listen=:8080", "--cache=/var/cache/web"},
		Ports: []corev1.ContainerPort{{Name: "http", ContainerPort: 8080}},
		Env: []corev1.EnvVar{
			{Name: "LOG_LEVEL", Value: "info"},
			{Name: "POD_IP", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "status.podIP"}}},
			{Name: "TOKEN", ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{
				LocalObjectReference: corev1.LocalObjectReference{Name: "web-token"}, Key: "token"}}},
		},
		Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m"), corev1.ResourceMemory: resource.MustParse("64Mi")},
			Limits:   corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("128Mi")},
		},
		VolumeMounts: []corev1.VolumeMount{{Name: "config", MountPath: "/etc/web"}, {Name: "cache", MountPath: "/var/cache/web"}},
	}
}
