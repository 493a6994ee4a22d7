// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package tokens

import (
	"time"

	"github.com/go-jose/go-jose/v4/jwt"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Issuer names the server in tokens, and is the audience of one that asks for none:
// that of a Kubernetes cluster, which libraries expect.
const Issuer = "https://kubernetes.default.svc.cluster.local"

// claims are those of Kubernetes.
type claims struct {
	jwt.Claims
	// Audience takes the place of the one in jwt.Claims, which is no list if it has
	// one entry.
	Audience   []string         `json:"aud"`
	Kubernetes kubernetesClaims `json:"kubernetes.io"`
}

type kubernetesClaims struct {
	Namespace      string    `json:"namespace"`
	Node           *identity `json:"node,omitempty"`
	Pod            *identity `json:"pod,omitempty"`
	Secret         *identity `json:"secret,omitempty"`
	ServiceAccount identity  `json:"serviceaccount"`
}

type identity struct {
	Name string    `json:"name"`
	UID  types.UID `json:"uid,omitempty"`
}

func identityOf(o metav1.Object) *identity { return &identity{o.GetName(), o.GetUID()} }

// bound is what a token stands and falls with.
type bound struct {
	pod    *corev1.Pod
	node   *identity // of the pod; nil for one that is not placed
	secret *corev1.Secret
}

// request is what a token is made of.
type request struct {
	account   *corev1.ServiceAccount
	bound     bound
	audiences []string
	lifetime  time.Duration
	now       time.Time
	id        string
}

func (r request) expiration() time.Time { return r.now.Add(r.lifetime) }

func (r request) claims() claims {
	c := claims{
		Claims: jwt.Claims{
			Issuer:    Issuer,
			Subject:   "system:serviceaccount:" + r.account.Namespace + ":" + r.account.Name,
			Expiry:    jwt.NewNumericDate(r.expiration()),
			NotBefore: jwt.NewNumericDate(r.now),
			IssuedAt:  jwt.NewNumericDate(r.now),
			ID:        r.id,
		},
		Audience: r.audiences,
		Kubernetes: kubernetesClaims{
			Namespace: r.account.Namespace, ServiceAccount: *identityOf(r.account), Node: r.bound.node,
		},
	}
	if r.bound.pod != nil {
		c.Kubernetes.Pod = identityOf(r.bound.pod)
	}
	if r.bound.secret != nil {
		c.Kubernetes.Secret = identityOf(r.bound.secret)
	}
	return c
}
