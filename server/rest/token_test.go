// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package rest

import (
	"bytes"
	"context"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/berth-run/berth/api"
)

// tokens answers with the name of the account, and knows one of them only.
type tokens struct{}

func (tokens) Create(_ context.Context, namespace, account string, asked *authenticationv1.TokenRequest) (*authenticationv1.TokenRequest, error) {
	if account != "robot" {
		return nil, apierrors.NewNotFound(api.ServiceAccounts.GroupResource(), account)
	}
	out := asked.DeepCopy()
	out.Status.Token = namespace + "/" + account
	return out, nil
}

const tokenPath = "/api/v1/namespaces/default/serviceaccounts/robot/token"

func TestTokenRequest(t *testing.T) {
	s := newServer(t)
	const body = `{"kind":"TokenRequest","apiVersion":"authentication.k8s.io/v1","metadata":{"creationTimestamp":null},
		"spec":{"audiences":["a"],"expirationSeconds":600,"boundObjectRef":{"kind":"Pod","apiVersion":"v1","name":"p"}},
		"status":{"token":"","expirationTimestamp":null}}`
	var got authenticationv1.TokenRequest
	s.do(t, "POST", tokenPath, body, 201, &got)
	if got.Kind != "TokenRequest" || got.APIVersion != "authentication.k8s.io/v1" || got.Status.Token != "default/robot" {
		t.Errorf("answer: %+v", got)
	}
	if got.Spec.Audiences[0] != "a" || *got.Spec.ExpirationSeconds != 600 || got.Spec.BoundObjectRef.Name != "p" {
		t.Errorf("the request came as %+v", got.Spec)
	}

	var status metav1.Status
	s.do(t, "POST", "/api/v1/namespaces/default/serviceaccounts/none/token", body, 404, &status)
	s.do(t, "POST", tokenPath, `{"spec":{"colour":"red"}}`, 400, &status)
	s.do(t, "POST", tokenPath, `{"kind":"Binding"}`, 400, &status)
	s.do(t, "GET", tokenPath, "", 405, &status)
}

func TestKeysOfTokens(t *testing.T) {
	s := newServer(t)
	var keys map[string]string
	s.do(t, "GET", "/openid/v1/jwks", "", 200, &keys)
	if keys["keys"] != "public" {
		t.Errorf("keys: %v", keys)
	}
}

func TestTokenRequestInProtobuf(t *testing.T) {
	s := newServer(t)
	encoded, err := (&authenticationv1.TokenRequest{}).Marshal()
	if err != nil {
		t.Fatal(err)
	}
	body, err := protobufBody(tokenRequest, encoded)
	if err != nil {
		t.Fatal(err)
	}
	const protobuf = "application/vnd.kubernetes.protobuf"
	resp, answer := s.call(t, "POST", tokenPath, string(body), "Content-Type", protobuf, "Accept", protobuf)
	envelope, ok := bytes.CutPrefix(answer, protobufPrefix)
	var unknown runtime.Unknown
	if resp.StatusCode != 201 || !ok || unknown.Unmarshal(envelope) != nil {
		t.Fatalf("%d %q", resp.StatusCode, answer)
	}
	var got authenticationv1.TokenRequest
	if err := got.Unmarshal(unknown.Raw); err != nil || got.Status.Token != "default/robot" || unknown.Kind != "TokenRequest" {
		t.Errorf("%v: %+v of kind %s", err, got, unknown.Kind)
	}
}
