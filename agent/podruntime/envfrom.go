// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podruntime

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// addEnvFrom adds a variable for each key of the objects that the container takes
// its environment from. Every key of a ConfigMap or Secret is a valid name of a
// variable, and so is a prefix with it.
func (r *Runtime) addEnvFrom(vars *variables, namespace string, sources []corev1.EnvFromSource) error {
	for i := range sources {
		data, err := r.envFromData(namespace, &sources[i])
		if err != nil {
			return fmt.Errorf("envFrom[%d]: %w", i, err)
		}
		for _, key := range slices.Sorted(maps.Keys(data)) {
			if err := vars.set(sources[i].Prefix+key, data[key]); err != nil {
				return fmt.Errorf("envFrom[%d]: key %s: %w", i, key, err)
			}
		}
	}
	return nil
}

// envFromData is nil for an optional object that is not there.
func (r *Runtime) envFromData(namespace string, source *corev1.EnvFromSource) (map[string]string, error) {
	switch {
	case source.ConfigMapRef != nil:
		return r.configMapData(namespace, source.ConfigMapRef)
	case source.SecretRef != nil:
		return r.secretData(namespace, source.SecretRef)
	}
	return nil, fmt.Errorf("a kind of source that is not supported")
}

func (r *Runtime) configMapData(namespace string, ref *corev1.ConfigMapEnvSource) (map[string]string, error) {
	cm, err := r.cfg.Objects.ConfigMap(namespace, ref.Name)
	if err != nil {
		_, _, err = missing(fmt.Sprintf("ConfigMap %s/%s", namespace, ref.Name), err, ref.Optional)
		return nil, err
	}
	return cm.Data, nil
}

func (r *Runtime) secretData(namespace string, ref *corev1.SecretEnvSource) (map[string]string, error) {
	secret, err := r.cfg.Objects.Secret(namespace, ref.Name)
	if err != nil {
		_, _, err = missing(fmt.Sprintf("Secret %s/%s", namespace, ref.Name), err, ref.Optional)
		return nil, err
	}
	data := make(map[string]string, len(secret.Data))
	for key, value := range secret.Data {
		data[key] = string(value)
	}
	return data, nil
}
