// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// FuzzParseSelector reads selectors of any text. One that is read can be written
// and read again, and picks the same objects then.
func FuzzParseSelector(f *testing.F) {
	for _, seed := range []struct{ labels, fields string }{
		{"", ""},
		{"app=web,tier!=backend", "metadata.name=web"},
		{"app in (web, api),!canary,tier", "spec.nodeName!=n1,status.phase=Running"},
		{"generation>3,generation<5", "metadata.namespace==default"},
		{"app notin (),x=", `metadata.name=a\,b\=c\\`},
		{"example.com/name=", "spec.nodeName="},
		{"a in", "=,="},
	} {
		f.Add(seed.labels, seed.fields)
	}
	pods := []Object{
		&corev1.Pod{},
		&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "default", Labels: map[string]string{"app": "web", "generation": "4"}},
			Spec: corev1.PodSpec{NodeName: "n1"}, Status: corev1.PodStatus{Phase: corev1.PodRunning}},
		&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: `a,b=c\`, Labels: map[string]string{"tier": "", "canary": "true", "example.com/name": "x"}}},
	}
	f.Fuzz(func(t *testing.T, labels, fields string) {
		selector, err := ParseSelector(Pods, labels, fields)
		if err != nil {
			if !apierrors.IsBadRequest(err) {
				t.Errorf("refused with %v", err)
			}
			return
		}
		if (labels == "" && fields == "") && !selector.Empty() {
			t.Error("nothing selects something")
		}
		again, err := ParseSelector(Pods, text(selector.labels), text(selector.fields))
		if err != nil {
			t.Fatalf("%q, %q is read as %q, %q, which is not: %v", labels, fields, text(selector.labels), text(selector.fields), err)
		}
		for _, pod := range pods {
			if selector.Matches(pod) != again.Matches(pod) {
				t.Errorf("%q, %q picks %q: %v; %q, %q: %v", labels, fields, pod.GetName(), selector.Matches(pod),
					text(again.labels), text(again.fields), again.Matches(pod))
			}
			if selector.Empty() && !selector.Matches(pod) {
				t.Errorf("%q, %q is empty and does not pick %q", labels, fields, pod.GetName())
			}
		}
	})
}

func text(selector interface{ String() string }) string {
	if selector == nil {
		return ""
	}
	return selector.String()
}
