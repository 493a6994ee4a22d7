// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
)

// Reference names a Secret or ConfigMap that a pod needs.
type Reference struct {
	Kind      *Kind
	Namespace string
	Name      string
}

// References returns the Secrets and ConfigMaps that the pod names in its
// environment, volumes and pull secrets, and its RuntimeClass, whether or not they
// exist.
func References(pod *corev1.Pod) map[Reference]struct{} {
	c := collector{namespace: pod.Namespace, found: map[Reference]struct{}{}}
	for _, container := range Containers(&pod.Spec) {
		c.environment(container.Env, container.EnvFrom)
	}
	for i := range pod.Spec.Volumes {
		c.volume(&pod.Spec.Volumes[i])
	}
	for _, s := range pod.Spec.ImagePullSecrets {
		c.add(Secrets, s.Name)
	}
	if name := pod.Spec.RuntimeClassName; name != nil && *name != "" {
		c.found[Reference{Kind: RuntimeClasses, Name: *name}] = struct{}{}
	}
	return c.found
}

// ReferencedKind returns the kind of an object that pods name; nil for any other.
func ReferencedKind(o Object) *Kind {
	switch o.(type) {
	case *corev1.Secret:
		return Secrets
	case *corev1.ConfigMap:
		return ConfigMaps
	case *nodev1.RuntimeClass:
		return RuntimeClasses
	}
	return nil
}

type collector struct {
	namespace string
	found     map[Reference]struct{}
}

func (c *collector) add(kind *Kind, name string) {
	if name != "" {
		c.found[Reference{kind, c.namespace, name}] = struct{}{}
	}
}

func (c *collector) environment(env []corev1.EnvVar, from []corev1.EnvFromSource) {
	for _, e := range env {
		if e.ValueFrom == nil {
			continue
		}
		if r := e.ValueFrom.SecretKeyRef; r != nil {
			c.add(Secrets, r.Name)
		}
		if r := e.ValueFrom.ConfigMapKeyRef; r != nil {
			c.add(ConfigMaps, r.Name)
		}
	}
	for _, f := range from {
		if f.SecretRef != nil {
			c.add(Secrets, f.SecretRef.Name)
		}
		if f.ConfigMapRef != nil {
			c.add(ConfigMaps, f.ConfigMapRef.Name)
		}
	}
}

func (c *collector) volume(v *corev1.Volume) {
	if v.Secret != nil {
		c.add(Secrets, v.Secret.SecretName)
	}
	if v.ConfigMap != nil {
		c.add(ConfigMaps, v.ConfigMap.Name)
	}
	if v.Projected == nil {
		return
	}
	for _, s := range v.Projected.Sources {
		if s.Secret != nil {
			c.add(Secrets, s.Secret.Name)
		}
		if s.ConfigMap != nil {
			c.add(ConfigMaps, s.ConfigMap.Name)
		}
	}
}
