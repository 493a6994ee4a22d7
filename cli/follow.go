// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/berth-run/berth/api"
	apipb "github.com/berth-run/berth/proto/berth/api/v1"
)

// follow shows what exists and then every change, until it is interrupted.
func (f *getFlags) follow(c *cobra.Command, client *client, objects []named) error {
	if len(objects) > 1 {
		return UsageError(errors.New("--watch takes one resource type, and one name or none"))
	}
	o := objects[0]
	p := f.printer(o.kind, f.allNamespaces, c.OutOrStdout())
	request := &apipb.WatchRequest{Namespace: f.scope(o.kind), LabelSelector: f.labels, FieldSelector: f.fields, Name: o.name}
	err := f.begin(c.Context(), client, o, p, request)
	if err == nil {
		err = client.watch(c.Context(), o.kind, request, func(_ watch.EventType, obj api.Object) error { return p.one(obj) })
	}
	if errors.Is(c.Context().Err(), context.Canceled) {
		return nil
	}
	return err
}

// begin shows what exists, and has the watch go on from there.
func (f *getFlags) begin(ctx context.Context, client *client, o named, p *printer, request *apipb.WatchRequest) error {
	if o.name != "" {
		now, err := client.look(ctx, o.kind, request.GetNamespace(), o.name)
		switch {
		case err != nil:
			return err
		case now.obj == nil:
			return apierrors.NewNotFound(o.kind.GroupResource(), o.name)
		}
		request.ResourceVersion = now.version
		return p.one(now.obj)
	}
	items, version, err := f.list(ctx, client, o.kind)
	if err != nil {
		return err
	}
	request.ResourceVersion = version
	return p.each(items)
}
