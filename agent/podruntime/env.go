// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podruntime

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/berth-run/berth/api"
)

// environment resolves a container's variables: those of its envFrom, then those of
// its env, in their order. A later variable of the same name wins; a value may refer
// to those before it. size counts them all.
func (r *Runtime) environment(pod *corev1.Pod, c *corev1.Container, podIPs []string, size *execSize) (*variables, error) {
	vars := newVariables(size)
	if err := r.addEnvFrom(vars, pod.Namespace, c.EnvFrom); err != nil {
		return nil, err
	}
	for i := range c.Env {
		if err := r.addEnv(vars, pod, c, &c.Env[i], podIPs); err != nil {
			return nil, fmt.Errorf("env %s: %w", c.Env[i].Name, err)
		}
	}
	return vars, nil
}

// addEnv leaves out a variable whose reference is optional and leads to nothing.
func (r *Runtime) addEnv(vars *variables, pod *corev1.Pod, c *corev1.Container, e *corev1.EnvVar, podIPs []string) error {
	if e.ValueFrom == nil {
		return vars.setExpanded(e.Name, e.Value)
	}
	value, ok, err := r.referredValue(pod, c, e.ValueFrom, podIPs)
	if err != nil || !ok {
		return err
	}
	return vars.set(e.Name, value)
}

func (r *Runtime) referredValue(pod *corev1.Pod, c *corev1.Container, from *corev1.EnvVarSource, podIPs []string) (string, bool, error) {
	switch {
	case from.FieldRef != nil:
		at := api.Place{NodeName: r.cfg.NodeName, HostIPs: r.cfg.HostIPs, PodIPs: podIPs}
		value, err := api.FieldRefValue(pod, from.FieldRef.FieldPath, at)
		return value, err == nil, err
	case from.ResourceFieldRef != nil:
		value, err := r.resourceField(pod, c, from.ResourceFieldRef)
		return value, err == nil, err
	case from.ConfigMapKeyRef != nil:
		return r.configMapKey(pod.Namespace, from.ConfigMapKeyRef)
	case from.SecretKeyRef != nil:
		return r.secretKey(pod.Namespace, from.SecretKeyRef)
	case from.FileKeyRef != nil:
		return fileKey(r.cfg.Volumes(pod.UID), from.FileKeyRef)
	}
	return "", false, fmt.Errorf("a kind of valueFrom that is not supported")
}

// resourceField is of the container itself unless the reference names another.
func (r *Runtime) resourceField(pod *corev1.Pod, c *corev1.Container, ref *corev1.ResourceFieldSelector) (string, error) {
	if ref.ContainerName != "" {
		if c = api.Container(pod, ref.ContainerName); c == nil {
			return "", fmt.Errorf("resourceFieldRef: the pod has no container %q", ref.ContainerName)
		}
	}
	return api.ResourceFieldRefValue(ref, c, r.cfg.Allocatable())
}

func (r *Runtime) configMapKey(namespace string, ref *corev1.ConfigMapKeySelector) (string, bool, error) {
	object := fmt.Sprintf("ConfigMap %s/%s", namespace, ref.Name)
	cm, err := r.cfg.Objects.ConfigMap(namespace, ref.Name)
	if err != nil {
		return missing(object, err, ref.Optional)
	}
	if value, ok := cm.Data[ref.Key]; ok {
		return value, true, nil
	}
	return missingKey(object, ref.Key, ref.Optional)
}

func (r *Runtime) secretKey(namespace string, ref *corev1.SecretKeySelector) (string, bool, error) {
	object := fmt.Sprintf("Secret %s/%s", namespace, ref.Name)
	secret, err := r.cfg.Objects.Secret(namespace, ref.Name)
	if err != nil {
		return missing(object, err, ref.Optional)
	}
	if value, ok := secret.Data[ref.Key]; ok {
		return string(value), true, nil
	}
	return missingKey(object, ref.Key, ref.Optional)
}

func missing(object string, err error, optional *bool) (string, bool, error) {
	switch {
	case !apierrors.IsNotFound(err):
		return "", false, fmt.Errorf("%s: %w", object, err)
	case optional != nil && *optional:
		return "", false, nil
	}
	return "", false, fmt.Errorf("%s not found", object)
}

func missingKey(object, key string, optional *bool) (string, bool, error) {
	if optional != nil && *optional {
		return "", false, nil
	}
	return "", false, fmt.Errorf("%s has no key %q", object, key)
}
