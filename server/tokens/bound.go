// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package tokens

import (
	"context"
	"fmt"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/berth-run/berth/api"
)

// bind looks up what a token of the account is to be bound to.
func (t *Tokens) bind(ctx context.Context, namespace, account string, ref *authenticationv1.BoundObjectReference) (bound, error) {
	if ref == nil {
		return bound{}, nil
	}
	switch gvk := schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind); {
	case gvk.Group == "" && gvk.Kind == api.Pods.Name:
		return t.bindPod(ctx, namespace, account, ref)
	case gvk.Group == "" && gvk.Kind == api.Secrets.Name:
		obj, err := t.registry.Get(ctx, api.Secrets, namespace, ref.Name)
		if err == nil {
			err = checkUID(ref, obj)
		}
		if err != nil {
			return bound{}, err
		}
		return bound{secret: obj.(*corev1.Secret)}, nil
	default:
		return bound{}, apierrors.NewBadRequest(fmt.Sprintf("cannot bind token to object of type %s", gvk))
	}
}

func (t *Tokens) bindPod(ctx context.Context, namespace, account string, ref *authenticationv1.BoundObjectReference) (bound, error) {
	obj, err := t.registry.Get(ctx, api.Pods, namespace, ref.Name)
	if err != nil {
		return bound{}, err
	}
	pod := obj.(*corev1.Pod)
	if account != api.ServiceAccountOf(pod) {
		return bound{}, apierrors.NewBadRequest(fmt.Sprintf(
			"cannot bind token for serviceaccount %q to pod running with different serviceaccount name.", account))
	}
	if err := checkUID(ref, pod); err != nil {
		return bound{}, err
	}
	node, err := t.nodeOf(ctx, pod)
	return bound{pod: pod, node: node}, err
}

// nodeOf is without a UID for a node that is not registered.
func (t *Tokens) nodeOf(ctx context.Context, pod *corev1.Pod) (*identity, error) {
	name := pod.Spec.NodeName
	if name == "" {
		return nil, nil
	}
	node, err := t.registry.Get(ctx, api.Nodes, "", name)
	if apierrors.IsNotFound(err) {
		return &identity{Name: name}, nil
	}
	if err != nil {
		return nil, err
	}
	return identityOf(node), nil
}

func checkUID(ref *authenticationv1.BoundObjectReference, obj api.Object) error {
	if ref.UID == "" || ref.UID == obj.GetUID() {
		return nil
	}
	return apierrors.NewConflict(schema.GroupResource{Resource: ref.Kind}, ref.Name, fmt.Errorf(
		"the UID in the bound object reference (%s) does not match the UID in record. The object might have been deleted and then recreated", ref.UID))
}
