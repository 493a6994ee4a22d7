// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package rpc

import (
	"context"
	"fmt"

	"google.golang.org/protobuf/proto"
	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/berth-run/berth/api"
	apipb "github.com/berth-run/berth/proto/berth/api/v1"
	corepb "github.com/berth-run/berth/proto/berth/core/v1"
)

// Tokens issues the tokens of ServiceAccounts. Its errors are Kubernetes Status
// errors.
type Tokens interface {
	Create(ctx context.Context, namespace, account string, asked *authenticationv1.TokenRequest) (*authenticationv1.TokenRequest, error)
}

// CreateToken answers a TokenRequest with the same, and the token in its status.
func (s *serviceAccountService) CreateToken(ctx context.Context, req *apipb.CreateTokenRequest) (*apipb.CreateTokenReply, error) {
	if s.tokens == nil {
		return nil, apierrors.NewMethodNotSupported(api.ServiceAccounts.GroupResource(), "create token")
	}
	asked, err := tokenRequestOf(req)
	if err != nil {
		return nil, err
	}
	answer, err := s.tokens.Create(ctx, namespaceOf(api.ServiceAccounts, req.GetNamespace(), nil), req.GetName(), asked)
	if err != nil {
		return nil, err
	}
	encoded, err := answer.Marshal()
	if err != nil {
		return nil, err
	}
	return &apipb.CreateTokenReply{Object: &apipb.CreateTokenReply_TokenRequest{
		TokenRequest: api.Raw(&corepb.TokenRequest{}, encoded),
	}}, nil
}

func tokenRequestOf(req *apipb.CreateTokenRequest) (*authenticationv1.TokenRequest, error) {
	if req.GetTokenRequest() == nil {
		return nil, apierrors.NewBadRequest("the request carries no TokenRequest")
	}
	encoded, err := proto.Marshal(req.GetTokenRequest())
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	asked := &authenticationv1.TokenRequest{}
	if err := asked.Unmarshal(encoded); err != nil {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("the TokenRequest cannot be read: %v", err))
	}
	return asked, nil
}
