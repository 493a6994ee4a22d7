// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package rpc

import (
	"context"

	"google.golang.org/protobuf/proto"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/berth-run/berth/api"
	"github.com/berth-run/berth/server/registry"
)

// Handover takes the object or list of an answer as it is in memory, shared, with
// its apiVersion and kind. A caller within the process that does not want it
// encoded puts one into the context of a unary call; the reply is then without it.
type Handover struct {
	Kind   *api.Kind
	Object runtime.Object
}

type handoverKey struct{}

// WithHandover returns a context whose call hands its answer over.
func WithHandover(ctx context.Context, h *Handover) context.Context {
	return context.WithValue(ctx, handoverKey{}, h)
}

func handoverOf(ctx context.Context) *Handover {
	h, _ := ctx.Value(handoverKey{}).(*Handover)
	return h
}

// giveObject puts obj into a reply, or hands it over.
func giveObject(ctx context.Context, out proto.Message, k *api.Kind, obj api.Object, asManifest bool) error {
	if h := handoverOf(ctx); h != nil {
		h.Kind, h.Object = k, api.Typed(k, obj)
		return nil
	}
	return setObject(out, k, obj, asManifest)
}

// giveList puts a list into a reply, or hands it over.
func giveList(ctx context.Context, out proto.Message, k *api.Kind, list registry.List, asManifest bool) (err error) {
	if h := handoverOf(ctx); h != nil {
		h.Kind = k
		h.Object, err = api.NewList(k, list.Meta, list.Items)
		return err
	}
	return setList(out, k, list, asManifest)
}
