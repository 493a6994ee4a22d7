// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package tokens

import (
	"context"
	"fmt"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/berth-run/berth/api"
)

// PodRequest is a node's request for a token of one of its pods.
type PodRequest struct {
	Node, Namespace, Pod string
	UID                  types.UID
	Audience             string
	ExpirationSeconds    int64
}

// CreateForPod gives a node a token that is bound to a pod of its own, for what a
// volume of the pod asks for. Its errors are Kubernetes Status errors.
func (t *Tokens) CreateForPod(ctx context.Context, r PodRequest) (authenticationv1.TokenRequestStatus, error) {
	var none authenticationv1.TokenRequestStatus
	obj, err := t.registry.Get(ctx, api.Pods, r.Namespace, r.Pod)
	if err != nil {
		return none, err
	}
	pod := obj.(*corev1.Pod)
	if err := r.allowed(pod); err != nil {
		return none, apierrors.NewForbidden(api.Pods.GroupResource(), r.Pod, err)
	}
	out, err := t.Create(ctx, pod.Namespace, api.ServiceAccountOf(pod), &authenticationv1.TokenRequest{
		ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace},
		Spec:       r.spec(pod),
	})
	if err != nil {
		return none, err
	}
	return out.Status, nil
}

func (r PodRequest) spec(pod *corev1.Pod) authenticationv1.TokenRequestSpec {
	spec := authenticationv1.TokenRequestSpec{
		ExpirationSeconds: ptr.To(r.ExpirationSeconds),
		BoundObjectRef:    &authenticationv1.BoundObjectReference{APIVersion: "v1", Kind: api.Pods.Name, Name: pod.Name, UID: pod.UID},
	}
	if r.Audience != "" {
		spec.Audiences = []string{r.Audience}
	}
	return spec
}

// allowed says why a node may not have the token that it asks for.
func (r PodRequest) allowed(pod *corev1.Pod) error {
	switch {
	case pod.UID != r.UID:
		return fmt.Errorf("its UID is %s, not %s", pod.UID, r.UID)
	case r.Node == "" || pod.Spec.NodeName != r.Node:
		return fmt.Errorf("it is not bound to node %q", r.Node)
	case !r.isAskedFor(pod):
		return fmt.Errorf("none of its volumes asks for a token of audience %q for %d seconds", r.Audience, r.ExpirationSeconds)
	}
	return nil
}

func (r PodRequest) isAskedFor(pod *corev1.Pod) bool {
	for _, v := range pod.Spec.Volumes {
		if v.Projected == nil {
			continue
		}
		for _, s := range v.Projected.Sources {
			t := s.ServiceAccountToken
			if t != nil && t.Audience == r.Audience && ptr.Deref(t.ExpirationSeconds, 0) == r.ExpirationSeconds {
				return true
			}
		}
	}
	return false
}
