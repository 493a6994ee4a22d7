// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"fmt"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
)

// Selector picks objects of one kind by their labels and by the few fields that
// Kubernetes offers for it. The zero value picks all.
type Selector struct {
	labels labels.Selector
	fields fields.Selector
}

// ParseSelector reads a labelSelector and a fieldSelector of kind k. Either may
// be empty. What it cannot read, or a field that the kind does not offer, is a
// Status error of reason BadRequest.
func ParseSelector(k *Kind, labelSelector, fieldSelector string) (Selector, error) {
	var s Selector
	var err error
	if labelSelector != "" {
		if s.labels, err = labels.Parse(labelSelector); err != nil {
			return Selector{}, apierrors.NewBadRequest(fmt.Sprintf("unable to parse label selector %q: %v", labelSelector, err))
		}
	}
	if fieldSelector == "" {
		return s, nil
	}
	if s.fields, err = fields.ParseSelector(fieldSelector); err != nil {
		return Selector{}, apierrors.NewBadRequest(fmt.Sprintf("unable to parse field selector %q: %v", fieldSelector, err))
	}
	offered := selectableFields(k.New())
	for _, r := range s.fields.Requirements() {
		if _, ok := offered[r.Field]; !ok {
			return Selector{}, apierrors.NewBadRequest(fmt.Sprintf(
				"unable to find %q that match field selector %q: field label not supported: %s", k.Resource, fieldSelector, r.Field))
		}
	}
	return s, nil
}

// Empty tells whether the selector picks all.
func (s Selector) Empty() bool {
	return (s.labels == nil || s.labels.Empty()) && (s.fields == nil || s.fields.Empty())
}

// Matches tells whether the selector picks obj.
func (s Selector) Matches(obj Object) bool {
	if s.labels != nil && !s.labels.Matches(labels.Set(obj.GetLabels())) {
		return false
	}
	return s.fields == nil || s.fields.Matches(selectableFields(obj))
}

// selectableFields returns the fields of obj that selectors may name.
func selectableFields(obj Object) fields.Set {
	set := fields.Set{"metadata.name": obj.GetName(), "metadata.namespace": obj.GetNamespace()}
	switch o := obj.(type) {
	case *corev1.Pod:
		addPodFields(set, o)
	case *corev1.Node:
		delete(set, "metadata.namespace")
		set["spec.unschedulable"] = strconv.FormatBool(o.Spec.Unschedulable)
	case *corev1.Namespace:
		delete(set, "metadata.namespace")
		set["status.phase"] = string(o.Status.Phase)
	case *corev1.Secret:
		set["type"] = string(o.Type)
	case *corev1.Event:
		addEventFields(set, o)
	}
	return set
}

func addPodFields(set fields.Set, pod *corev1.Pod) {
	set["spec.nodeName"] = pod.Spec.NodeName
	set["spec.restartPolicy"] = string(pod.Spec.RestartPolicy)
	set["spec.schedulerName"] = pod.Spec.SchedulerName
	set["spec.serviceAccountName"] = pod.Spec.ServiceAccountName
	set["spec.hostNetwork"] = strconv.FormatBool(pod.Spec.HostNetwork)
	set["status.phase"] = string(pod.Status.Phase)
	set["status.nominatedNodeName"] = pod.Status.NominatedNodeName
	set["status.podIP"] = pod.Status.PodIP
}

func addEventFields(set fields.Set, e *corev1.Event) {
	set["involvedObject.kind"] = e.InvolvedObject.Kind
	set["involvedObject.namespace"] = e.InvolvedObject.Namespace
	set["involvedObject.name"] = e.InvolvedObject.Name
	set["involvedObject.uid"] = string(e.InvolvedObject.UID)
	set["involvedObject.apiVersion"] = e.InvolvedObject.APIVersion
	set["involvedObject.resourceVersion"] = e.InvolvedObject.ResourceVersion
	set["involvedObject.fieldPath"] = e.InvolvedObject.FieldPath
	set["reason"] = e.Reason
	set["reportingComponent"] = orElse(e.ReportingController, e.Source.Component)
	set["source"] = orElse(e.Source.Component, e.ReportingController)
	set["type"] = e.Type
}
