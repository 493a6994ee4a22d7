// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Default sets in an object what Kubernetes sets where its user said nothing. It
// is idempotent. It changes obj in place, so obj must not be shared.
func Default(obj Object) {
	switch o := obj.(type) {
	case *corev1.Pod:
		defaultPod(o)
	case *corev1.Secret:
		defaultSecret(o)
	case *corev1.Namespace:
		defaultNamespace(o)
	case *corev1.Event:
		defaultEvent(o)
	case *schedulingv1.PriorityClass:
		defaultPriorityClass(o)
	}
}

func setDefault[T comparable](p *T, value T) {
	var zero T
	if *p == zero {
		*p = value
	}
}

func setDefaultPointer[T any](p **T, value T) {
	if *p == nil {
		*p = &value
	}
}

// defaultSecret folds stringData, which is only for writing, into data.
func defaultSecret(s *corev1.Secret) {
	setDefault(&s.Type, corev1.SecretTypeOpaque)
	if len(s.StringData) == 0 {
		return
	}
	data := maps.Clone(s.Data)
	if data == nil {
		data = map[string][]byte{}
	}
	for key, value := range s.StringData {
		data[key] = []byte(value)
	}
	s.Data, s.StringData = data, nil
}

// defaultNamespace labels a namespace with its name, so that selectors can pick
// it, and has its content deleted before its record goes.
func defaultNamespace(ns *corev1.Namespace) {
	if ns.DeletionTimestamp == nil && !slices.Contains(ns.Spec.Finalizers, corev1.FinalizerKubernetes) {
		ns.Spec.Finalizers = append(slices.Clip(ns.Spec.Finalizers), corev1.FinalizerKubernetes)
	}
	if ns.Name == "" || ns.Labels[corev1.LabelMetadataName] == ns.Name {
		return
	}
	labels := maps.Clone(ns.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	labels[corev1.LabelMetadataName] = ns.Name
	ns.Labels = labels
}

func defaultEvent(e *corev1.Event) {
	setDefault(&e.Type, corev1.EventTypeNormal)
	if e.InvolvedObject.Namespace == "" && e.Namespace != metav1.NamespaceDefault {
		e.InvolvedObject.Namespace = e.Namespace
	}
}

// defaultPullPolicy is Always for an image that is named by the tag latest or by
// none, since its content may change.
func defaultPullPolicy(image string) corev1.PullPolicy {
	name, _, digested := strings.Cut(image, "@")
	if digested {
		return corev1.PullIfNotPresent
	}
	last := name[strings.LastIndex(name, "/")+1:]
	if _, tag, tagged := strings.Cut(last, ":"); tagged && tag != "latest" {
		return corev1.PullIfNotPresent
	}
	return corev1.PullAlways
}
