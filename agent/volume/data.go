// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package volume

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// dataSource says which keys of a ConfigMap or Secret are shown, where, and with
// what mode: what the sources of volumes and of projections have in common.
type dataSource struct {
	name     string
	items    []corev1.KeyToPath
	mode     *int32
	optional *bool
}

func (s dataSource) isOptional() bool { return s.optional != nil && *s.optional }

func (m *Manager) configMapFiles(namespace string, s dataSource) (payload, error) {
	object, err := m.objects.ConfigMap(namespace, s.name)
	if err != nil {
		return s.without(err)
	}
	data := make(map[string][]byte, len(object.Data)+len(object.BinaryData))
	for key, text := range object.Data {
		data[key] = []byte(text)
	}
	for key, bytes := range object.BinaryData {
		data[key] = bytes
	}
	return s.files("configmap", data)
}

func (m *Manager) secretFiles(namespace string, s dataSource) (payload, error) {
	object, err := m.objects.Secret(namespace, s.name)
	if err != nil {
		return s.without(err)
	}
	return s.files("secret", object.Data)
}

// without is what is shown of an object that is not there.
func (s dataSource) without(err error) (payload, error) {
	if s.isOptional() && apierrors.IsNotFound(err) {
		return payload{}, nil
	}
	return nil, err
}

// files are all keys by their own names, or just the listed items by theirs.
func (s dataSource) files(kind string, data map[string][]byte) (payload, error) {
	out := payload{}
	if len(s.items) == 0 {
		for key, bytes := range data {
			out.put(key, file{bytes, fileMode(s.mode)})
		}
		return out, nil
	}
	for _, item := range s.items {
		bytes, ok := data[item.Key]
		switch {
		case ok:
			out.put(item.Path, file{bytes, fileMode(item.Mode, s.mode)})
		case !s.isOptional():
			return nil, fmt.Errorf("%s %q has no key %q", kind, s.name, item.Key)
		}
	}
	return out, nil
}
