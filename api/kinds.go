// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"slices"
	"strings"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Object is any kind that berth serves: a Kubernetes Go value with its metadata
// and its Kubernetes protobuf encoding.
type Object interface {
	runtime.Object
	metav1.Object
	Marshal() ([]byte, error)
	MarshalToSizedBuffer([]byte) (int, error)
	Size() int
	Unmarshal([]byte) error
}

// Kind is one row of the table of kinds: all that the generator, the registry,
// REST, gRPC and the CLI need to know to serve it.
type Kind struct {
	Group   string
	Version string
	// Name is the CamelCase kind, such as Pod.
	Name string
	// Resource is the lower-case plural of paths, such as pods.
	Resource   string
	ShortNames []string
	// Categories are names for several kinds, such as all.
	Categories []string
	Namespaced bool
	// Status tells that the kind has a status subresource, written apart from
	// its spec.
	Status bool
	// Verbs in the words of Kubernetes discovery.
	Verbs []string

	New     func() Object
	NewList func() runtime.Object
}

// GroupResource names the resource as Status errors do.
func (k *Kind) GroupResource() schema.GroupResource {
	return schema.GroupResource{Group: k.Group, Resource: k.Resource}
}

// GroupVersionKind names the kind as manifests do.
func (k *Kind) GroupVersionKind() schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: k.Group, Version: k.Version, Kind: k.Name}
}

// Service is the name of the kind's gRPC service: its plural, such as Pods.
func (k *Kind) Service() string {
	if strings.HasSuffix(k.Name, "s") {
		return k.Name + "es"
	}
	return k.Name + "s"
}

// Path returns the path below which the kind's version is served, such as /api/v1
// or /apis/coordination.k8s.io/v1.
func (k *Kind) Path() string {
	if k.Group == "" {
		return "/api/" + k.Version
	}
	return "/apis/" + k.Group + "/" + k.Version
}

// Rows of the table, for code that means one kind in particular.
var (
	Pods = &Kind{
		Version: "v1", Name: "Pod", Resource: "pods", ShortNames: []string{"po"}, Categories: []string{"all"},
		Namespaced: true, Status: true, Verbs: allVerbs,
		New:     func() Object { return &corev1.Pod{} },
		NewList: func() runtime.Object { return &corev1.PodList{} },
	}
	Nodes = &Kind{
		Version: "v1", Name: "Node", Resource: "nodes", ShortNames: []string{"no"},
		Status: true, Verbs: allVerbs,
		New:     func() Object { return &corev1.Node{} },
		NewList: func() runtime.Object { return &corev1.NodeList{} },
	}
	Namespaces = &Kind{
		Version: "v1", Name: "Namespace", Resource: "namespaces", ShortNames: []string{"ns"},
		// As in Kubernetes: nobody is to end all of them by one request.
		Status: true, Verbs: slices.DeleteFunc(slices.Clone(allVerbs), func(v string) bool { return v == DeleteCollection }),
		New:     func() Object { return &corev1.Namespace{} },
		NewList: func() runtime.Object { return &corev1.NamespaceList{} },
	}
	Secrets = &Kind{
		Version: "v1", Name: "Secret", Resource: "secrets",
		Namespaced: true, Verbs: allVerbs,
		New:     func() Object { return &corev1.Secret{} },
		NewList: func() runtime.Object { return &corev1.SecretList{} },
	}
	ConfigMaps = &Kind{
		Version: "v1", Name: "ConfigMap", Resource: "configmaps", ShortNames: []string{"cm"},
		Namespaced: true, Verbs: allVerbs,
		New:     func() Object { return &corev1.ConfigMap{} },
		NewList: func() runtime.Object { return &corev1.ConfigMapList{} },
	}
	Events = &Kind{
		Version: "v1", Name: "Event", Resource: "events", ShortNames: []string{"ev"},
		Namespaced: true, Verbs: allVerbs,
		New:     func() Object { return &corev1.Event{} },
		NewList: func() runtime.Object { return &corev1.EventList{} },
	}
	ServiceAccounts = &Kind{
		Version: "v1", Name: "ServiceAccount", Resource: "serviceaccounts", ShortNames: []string{"sa"},
		Namespaced: true, Verbs: allVerbs,
		New:     func() Object { return &corev1.ServiceAccount{} },
		NewList: func() runtime.Object { return &corev1.ServiceAccountList{} },
	}
	Leases = &Kind{
		Group: coordinationv1.GroupName, Version: "v1", Name: "Lease", Resource: "leases",
		Namespaced: true, Verbs: allVerbs,
		New:     func() Object { return &coordinationv1.Lease{} },
		NewList: func() runtime.Object { return &coordinationv1.LeaseList{} },
	}
	PriorityClasses = &Kind{
		Group: schedulingv1.GroupName, Version: "v1", Name: "PriorityClass", Resource: "priorityclasses", ShortNames: []string{"pc"},
		Verbs:   allVerbs,
		New:     func() Object { return &schedulingv1.PriorityClass{} },
		NewList: func() runtime.Object { return &schedulingv1.PriorityClassList{} },
	}
	RuntimeClasses = &Kind{
		Group: nodev1.GroupName, Version: "v1", Name: "RuntimeClass", Resource: "runtimeclasses",
		Verbs:   allVerbs,
		New:     func() Object { return &nodev1.RuntimeClass{} },
		NewList: func() runtime.Object { return &nodev1.RuntimeClassList{} },
	}
)

// DeleteCollection is the verb that not every kind has.
const DeleteCollection = "deletecollection"

var allVerbs = []string{"create", "delete", DeleteCollection, "get", "list", "patch", "update", "watch"}

// Kinds is the table of kinds, in the order of their first use: a new kind is a
// row here, plus what is special about it.
var Kinds = []*Kind{Pods, Nodes, Namespaces, Secrets, ConfigMaps, Events, ServiceAccounts, Leases, PriorityClasses, RuntimeClasses}
