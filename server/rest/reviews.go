// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package rest

import (
	"net/http"
	"sync"

	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
)

// reviews answer clients that ask what they may do, such as kubectl auth can-i:
// who reaches the server may do everything.
var reviews = map[string]http.HandlerFunc{
	reviewsPath + "selfsubjectaccessreviews": serveReview(func(r *authorizationv1.SelfSubjectAccessReview) {
		r.Status = authorizationv1.SubjectAccessReviewStatus{Allowed: true, Reason: reviewReason}
	}),
	reviewsPath + "selfsubjectrulesreviews": serveReview(func(r *authorizationv1.SelfSubjectRulesReview) {
		all := []string{"*"}
		r.Status = authorizationv1.SubjectRulesReviewStatus{
			ResourceRules:    []authorizationv1.ResourceRule{{Verbs: all, APIGroups: all, Resources: all}},
			NonResourceRules: []authorizationv1.NonResourceRule{{Verbs: all, NonResourceURLs: all}},
		}
	}),
}

const (
	reviewsPath  = "/apis/authorization.k8s.io/v1/"
	reviewReason = "who reaches berth's server may do everything"
)

func isReview(r *http.Request) bool { return r.Method == http.MethodPost && reviews[r.URL.Path] != nil }

func serveReview[T any, P interface {
	*T
	runtime.Object
}](answer func(P)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		q, err := newRequest(w, r)
		if err != nil {
			writeError(w, r, err)
			return
		}
		review := P(new(T))
		body, err := q.readAll()
		if err == nil {
			err = runtime.DecodeInto(reviewCodecs().UniversalDeserializer(), body, review)
		}
		if err != nil {
			writeError(w, r, apierrors.NewBadRequest("the review cannot be read: "+err.Error()))
			return
		}
		answer(review)
		form, _ := runtime.SerializerInfoForMediaType(reviewCodecs().SupportedMediaTypes(), string(q.form.answer))
		encoder := reviewCodecs().EncoderForVersion(form.Serializer, authorizationv1.SchemeGroupVersion)
		w.Header().Set("Content-Type", q.form.ContentType(review))
		w.WriteHeader(http.StatusCreated)
		_ = encoder.Encode(review, w) // the client went away; nobody is left to tell
	}
}

// reviewCodecs are made on first use: few clients ask.
var reviewCodecs = sync.OnceValue(func() serializer.CodecFactory {
	scheme := runtime.NewScheme()
	if err := authorizationv1.AddToScheme(scheme); err != nil {
		panic(err) // two types of one name
	}
	return serializer.NewCodecFactory(scheme)
})
