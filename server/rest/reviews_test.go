// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package rest

import (
	"context"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	client "k8s.io/client-go/kubernetes/typed/authorization/v1"
	"k8s.io/client-go/rest"
)

// As client-go asks it, in both forms of its bodies.
func TestReviewsAllowEverything(t *testing.T) {
	s := newServer(t)
	for _, form := range []string{"application/json", "application/vnd.kubernetes.protobuf"} {
		c := &rest.Config{Host: s.URL, ContentConfig: rest.ContentConfig{ContentType: form}}
		reviews, err := client.NewForConfig(c)
		if err != nil {
			t.Fatal(err)
		}
		ask := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
			ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: "delete", Resource: "pods"},
		}}
		access, err := reviews.SelfSubjectAccessReviews().Create(context.Background(), ask, metav1.CreateOptions{})
		if err != nil || !access.Status.Allowed || access.Spec.ResourceAttributes.Verb != "delete" {
			t.Errorf("%s: %+v, %v", form, access, err)
		}
		rules, err := reviews.SelfSubjectRulesReviews().Create(context.Background(), &authorizationv1.SelfSubjectRulesReview{}, metav1.CreateOptions{})
		if err != nil || len(rules.Status.ResourceRules) != 1 || rules.Status.ResourceRules[0].Verbs[0] != "*" {
			t.Errorf("%s: %+v, %v", form, rules, err)
		}
	}
}
