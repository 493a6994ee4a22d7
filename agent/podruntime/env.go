// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podruntime

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/berth-run/berth/api"
)

// environment resolves a container's variables, in their order. A later variable
// of the same name wins; a value may refer to those before it. size counts them all.
func (r *Runtime) environment(pod *corev1.Pod, c *corev1.Container, podIPs []string, size *execSize) ([]*runtimeapi.KeyValue, map[string]string, error) {
	vars := make(map[string]string, len(c.Env))
	var names []string
	for i := range c.Env {
		value, ok, err := r.envValue(pod, &c.Env[i], vars, podIPs, size)
		if err != nil {
			return nil, nil, fmt.Errorf("env %s: %w", c.Env[i].Name, err)
		}
		if !ok {
			continue
		}
		if _, seen := vars[c.Env[i].Name]; !seen {
			names = append(names, c.Env[i].Name)
		}
		vars[c.Env[i].Name] = value
	}
	env := make([]*runtimeapi.KeyValue, 0, len(names))
	for _, name := range names {
		env = append(env, &runtimeapi.KeyValue{Key: name, Value: []byte(vars[name])})
	}
	return env, vars, nil
}

// envValue returns a variable's value, or false for one that is left out because
// what it refers to is optional and not there.
func (r *Runtime) envValue(pod *corev1.Pod, e *corev1.EnvVar, vars map[string]string, podIPs []string, size *execSize) (string, bool, error) {
	taken := len(e.Name) + len("=\x00")
	if e.ValueFrom == nil {
		value, err := size.expand(e.Value, vars, taken)
		return value, err == nil, err
	}
	value, ok, err := r.referredValue(pod, e.ValueFrom, podIPs)
	if err == nil && ok {
		err = size.add(taken + len(value))
	}
	return value, ok, err
}

func (r *Runtime) referredValue(pod *corev1.Pod, from *corev1.EnvVarSource, podIPs []string) (string, bool, error) {
	switch {
	case from.FieldRef != nil:
		at := api.Place{NodeName: r.cfg.NodeName, HostIPs: r.cfg.HostIPs, PodIPs: podIPs}
		value, err := api.FieldRefValue(pod, from.FieldRef.FieldPath, at)
		return value, err == nil, err
	case from.ConfigMapKeyRef != nil:
		return r.configMapKey(pod.Namespace, from.ConfigMapKeyRef)
	case from.SecretKeyRef != nil:
		return r.secretKey(pod.Namespace, from.SecretKeyRef)
	}
	return "", false, fmt.Errorf("a kind of valueFrom that is not supported")
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
