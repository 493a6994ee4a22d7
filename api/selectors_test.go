// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestSelector(t *testing.T) {
	event := &corev1.Event{ObjectMeta: metav1.ObjectMeta{Name: "e"}, InvolvedObject: corev1.ObjectReference{Kind: "Pod", Name: "web", UID: "u1"}, Reason: "Started"}
	secret := &corev1.Secret{Type: corev1.SecretTypeOpaque}
	tests := []struct {
		kind           *Kind
		obj            Object
		labels, fields string
		want           bool
	}{
		{Pods, validPod(), "", "", true},
		{Pods, validPod(), "app=web", "", true},
		{Pods, validPod(), "app in (a, b)", "", false},
		{Pods, validPod(), "!app", "", false},
		{Pods, validPod(), "", "spec.nodeName=node-1", true},
		{Pods, validPod(), "", "spec.nodeName!=node-1", false},
		{Pods, validPod(), "", "metadata.name=web,metadata.namespace=default,status.phase=Pending", true},
		{Pods, validPod(), "", "spec.restartPolicy=Never", false},
		{Pods, validPod(), "app=web", "metadata.name=other", false},
		{Nodes, &corev1.Node{}, "", "spec.unschedulable=false", true},
		{Namespaces, &corev1.Namespace{}, "", "status.phase=Active", false},
		{Secrets, secret, "", "type=Opaque", true},
		{Events, event, "", "involvedObject.kind=Pod,involvedObject.name=web,involvedObject.uid=u1,reason=Started", true},
		{Events, event, "", "involvedObject.name=db", false},
	}
	for _, tc := range tests {
		s, err := ParseSelector(tc.kind, tc.labels, tc.fields)
		if err != nil {
			t.Errorf("%q, %q: %v", tc.labels, tc.fields, err)
			continue
		}
		if got := s.Matches(tc.obj); got != tc.want {
			t.Errorf("%q, %q match: %t", tc.labels, tc.fields, got)
		}
		if empty := tc.labels == "" && tc.fields == ""; s.Empty() != empty {
			t.Errorf("%q, %q are empty: %t", tc.labels, tc.fields, s.Empty())
		}
	}
}

func TestSelectorRefuses(t *testing.T) {
	for _, tc := range []struct {
		kind           *Kind
		labels, fields string
	}{
		{Pods, "a in", ""},
		{Pods, "", "a"},
		{Pods, "", "spec.image=x"},
		{Pods, "", "spec.nodeName=a,type=x"},
		{Nodes, "", "metadata.namespace=x"},
		{ConfigMaps, "", "type=x"},
	} {
		if _, err := ParseSelector(tc.kind, tc.labels, tc.fields); !apierrors.IsBadRequest(err) {
			t.Errorf("%q, %q: %v, want a BadRequest", tc.labels, tc.fields, err)
		}
	}
}
