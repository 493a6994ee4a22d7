// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package rpc

import (
	"context"

	apipb "github.com/berth-run/berth/proto/berth/api/v1"
)

// DeleteCollection begins or completes the end of the objects that a list with the
// same parameters shows, and answers with them.
func (s *service[C, U, O, L, E, PE]) DeleteCollection(ctx context.Context, req *apipb.DeleteCollectionRequest) (L, error) {
	var none L
	o, err := deleteOptions(req)
	if err != nil {
		return none, err
	}
	which, err := listOptions(req)
	if err != nil {
		return none, err
	}
	list, err := s.reg.DeleteCollection(ctx, s.kind, req.GetNamespace(), o, which)
	if err != nil {
		return none, err
	}
	out := newMessage[L]()
	return out, giveList(ctx, out, s.kind, list, req.GetAsManifest())
}
