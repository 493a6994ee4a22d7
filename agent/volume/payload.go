// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package volume

import (
	"fmt"
	"io/fs"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// payload is what a projected volume shows: file contents by relative path.
type payload map[string]file

type file struct {
	data []byte
	mode fs.FileMode
}

func (m *Manager) configMapPayload(namespace string, source *corev1.ConfigMapVolumeSource) (payload, error) {
	optional := source.Optional != nil && *source.Optional
	object, err := m.objects.ConfigMap(namespace, source.Name)
	if optional && apierrors.IsNotFound(err) {
		return payload{}, nil
	}
	if err != nil {
		return nil, err
	}
	data := make(map[string][]byte, len(object.Data)+len(object.BinaryData))
	for key, text := range object.Data {
		data[key] = []byte(text)
	}
	for key, bytes := range object.BinaryData {
		data[key] = bytes
	}
	return selectItems(data, selection{
		object: fmt.Sprintf("configmap %q", source.Name), items: source.Items, mode: source.DefaultMode, optional: optional,
	})
}

func (m *Manager) secretPayload(namespace string, source *corev1.SecretVolumeSource) (payload, error) {
	optional := source.Optional != nil && *source.Optional
	object, err := m.objects.Secret(namespace, source.SecretName)
	if optional && apierrors.IsNotFound(err) {
		return payload{}, nil
	}
	if err != nil {
		return nil, err
	}
	return selectItems(object.Data, selection{
		object: fmt.Sprintf("secret %q", source.SecretName), items: source.Items, mode: source.DefaultMode, optional: optional,
	})
}

// selection says which keys of an object are shown, where, and with what mode.
type selection struct {
	object   string
	items    []corev1.KeyToPath
	mode     *int32
	optional bool
}

// selectItems returns all keys by their own names, or just the listed items by
// theirs.
func selectItems(data map[string][]byte, s selection) (payload, error) {
	mode := fs.FileMode(corev1.ConfigMapVolumeSourceDefaultMode)
	if s.mode != nil {
		mode = fs.FileMode(*s.mode)
	}
	out := payload{}
	if len(s.items) == 0 {
		for key, bytes := range data {
			out[key] = file{bytes, mode}
		}
		return out, nil
	}
	for _, item := range s.items {
		bytes, ok := data[item.Key]
		switch {
		case !ok && s.optional:
			continue
		case !ok:
			return nil, fmt.Errorf("%s has no key %q", s.object, item.Key)
		}
		itemMode := mode
		if item.Mode != nil {
			itemMode = fs.FileMode(*item.Mode)
		}
		out[item.Path] = file{bytes, itemMode}
	}
	return out, nil
}
