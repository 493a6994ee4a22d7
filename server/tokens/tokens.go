// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package tokens

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-run/berth/api"
)

// Registry has the objects that tokens are about. Its errors are Kubernetes Status
// errors.
type Registry interface {
	Get(ctx context.Context, k *api.Kind, namespace, name string) (api.Object, error)
}

// Tokens issues tokens.
type Tokens struct {
	registry Registry
	signer   *Signer
	now      func() time.Time
}

// New returns the tokens of a registry's ServiceAccounts. The clock is time.Now
// where it is nil.
func New(registry Registry, signer *Signer, now func() time.Time) *Tokens {
	if now == nil {
		now = time.Now
	}
	return &Tokens{registry: registry, signer: signer, now: now}
}

// Create answers a user's request for a token of a ServiceAccount: with the same
// request, completed by its defaults and the token. Its errors are Kubernetes
// Status errors.
func (t *Tokens) Create(ctx context.Context, namespace, account string, asked *authenticationv1.TokenRequest) (*authenticationv1.TokenRequest, error) {
	out := asked.DeepCopy()
	if err := complete(out, namespace, account); err != nil {
		return nil, err
	}
	obj, err := t.registry.Get(ctx, api.ServiceAccounts, namespace, account)
	if err != nil {
		return nil, err
	}
	boundTo, err := t.bind(ctx, namespace, account, out.Spec.BoundObjectRef)
	if err != nil {
		return nil, err
	}
	r := request{
		account: obj.(*corev1.ServiceAccount), bound: boundTo, audiences: out.Spec.Audiences,
		lifetime: time.Duration(*out.Spec.ExpirationSeconds) * time.Second, now: t.now(), id: uuid.NewString(),
	}
	token, err := t.signer.sign(r.claims())
	if err != nil {
		return nil, apierrors.NewInternalError(fmt.Errorf("token of ServiceAccount %s/%s: %w", namespace, account, err))
	}
	out.CreationTimestamp = metav1.NewTime(r.now).Rfc3339Copy()
	out.Status = authenticationv1.TokenRequestStatus{Token: token, ExpirationTimestamp: metav1.NewTime(r.expiration()).Rfc3339Copy()}
	return out, nil
}

// complete gives a request its defaults, and refuses one that is not valid.
func complete(r *authenticationv1.TokenRequest, namespace, account string) error {
	if r.Name != "" && r.Name != account {
		return apierrors.NewBadRequest(fmt.Sprintf("name on the URL (%s) does not match the name of the object (%s)", account, r.Name))
	}
	if r.Namespace != "" && r.Namespace != namespace {
		return apierrors.NewBadRequest(fmt.Sprintf(
			"the namespace of the provided object does not match the namespace sent on the request (%s, %s)", r.Namespace, namespace))
	}
	r.Name, r.Namespace = account, namespace
	if len(r.Spec.Audiences) == 0 {
		r.Spec.Audiences = []string{Issuer}
	}
	api.DefaultTokenRequest(r)
	if errs := api.ValidateTokenRequest(r); len(errs) > 0 {
		return apierrors.NewInvalid(authenticationv1.SchemeGroupVersion.WithKind("TokenRequest").GroupKind(), account, errs)
	}
	return nil
}
