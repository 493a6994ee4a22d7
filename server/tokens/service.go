// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package tokens

import (
	"context"

	"google.golang.org/protobuf/types/known/timestamppb"
	"k8s.io/apimachinery/pkg/types"

	nodepb "github.com/berth-run/berth/proto/berth/node/v1"
)

// CreatePodToken serves the method of the Node service.
func (t *Tokens) CreatePodToken(ctx context.Context, r *nodepb.PodTokenRequest) (*nodepb.PodToken, error) {
	status, err := t.CreateForPod(ctx, PodRequest{
		Node: r.GetNode(), Namespace: r.GetNamespace(), Pod: r.GetPod(), UID: types.UID(r.GetUid()),
		Audience: r.GetAudience(), ExpirationSeconds: r.GetExpirationSeconds(),
	})
	if err != nil {
		return nil, err
	}
	return &nodepb.PodToken{Token: status.Token, Expiration: timestamppb.New(status.ExpirationTimestamp.Time)}, nil
}
