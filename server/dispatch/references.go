// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package dispatch

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-run/berth/api"
)

// objectKey names a Secret or ConfigMap.
type objectKey struct {
	kind      *api.Kind
	namespace string
	name      string
}

// references is the set of objects that a pod names.
type references map[objectKey]struct{}

// referencesOf returns what the pod names, as the index keeps it.
func referencesOf(pod *corev1.Pod) references {
	found := references{}
	for r := range api.References(pod) {
		found[objectKey{r.Kind, r.Namespace, r.Name}] = struct{}{}
	}
	return found
}
