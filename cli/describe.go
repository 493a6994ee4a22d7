// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-run/berth/api"
	"github.com/berth-run/berth/cli/describe"
	apipb "github.com/berth-run/berth/proto/berth/api/v1"
)

type describeFlags struct {
	selection
	events bool
}

func describeCommand() *cobra.Command {
	var f describeFlags
	c := &cobra.Command{
		Use:   "describe TYPE [NAME...] | TYPE/NAME... | TYPE -l SELECTOR | -f FILE...",
		Short: "Tell all about objects, with their events",
		Long: "Tell all about objects, with their events. Where there is no object of the name, it is taken for the\n" +
			"beginning of names. Of what a Secret holds only the sizes are shown.",
		Example: "  berth describe pod web\n  berth describe node/node1\n  berth describe pods -l app=web",
		RunE:    func(c *cobra.Command, args []string) error { return f.run(c, args) },
	}
	f.selection.addFlags(c)
	f.addAllNamespacesFlag(c)
	c.Flags().BoolVar(&f.events, "show-events", true, "with the events about each object")
	return c
}

func (f *describeFlags) run(c *cobra.Command, args []string) error {
	client, closeClient, err := f.connect()
	if err != nil {
		return err
	}
	defer closeClient()
	f.all = true // a type without a name means all of them
	objects, err := f.objects(c, client, args)
	if err != nil {
		return err
	}
	if len(objects) == 0 {
		_, err := fmt.Fprintln(c.ErrOrStderr(), "No resources found.")
		return err
	}
	var errs []error
	between := ""
	for _, o := range objects {
		found, err := f.find(c.Context(), client, o)
		for _, obj := range found {
			var text string
			if text, err = f.text(c.Context(), client, o.kind, obj); err == nil {
				fmt.Fprint(c.OutOrStdout(), between, text)
				between = "\n\n"
			}
		}
		if err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// find returns the object of that name, or else those whose names begin with it.
func (f *describeFlags) find(ctx context.Context, client *client, o chosen) ([]api.Object, error) {
	if o.obj != nil {
		return []api.Object{o.obj}, nil
	}
	obj, notFound := client.get(ctx, o.kind, o.namespace, o.name)
	switch {
	case notFound == nil:
		return []api.Object{obj}, nil
	case status.Code(notFound) != codes.NotFound:
		return nil, notFound
	}
	items, _, err := client.list(ctx, o.kind, &apipb.ListRequest{Namespace: o.namespace})
	if err != nil {
		return nil, err
	}
	var found []api.Object
	for _, obj := range items {
		if strings.HasPrefix(obj.GetName(), o.name) {
			found = append(found, obj)
		}
	}
	if len(found) == 0 {
		return nil, notFound
	}
	return found, nil
}

// text describes an object, with what else there is about it.
func (f *describeFlags) text(ctx context.Context, client *client, k *api.Kind, obj api.Object) (string, error) {
	var related describe.Related
	var err error
	if f.events && k != api.Events {
		if related.Events, err = eventsAbout(ctx, client, k, obj); err != nil {
			return "", err
		}
	}
	if k == api.Nodes {
		related.Pods, err = podsOn(ctx, client, obj.GetName())
		var noLease error
		related.Lease, noLease = leaseOf(ctx, client, obj.GetName())
		if err := errors.Join(err, noLease); err != nil {
			return "", err
		}
	}
	return describe.Object(obj, related, time.Now()), nil
}

// eventsAbout are never nil. Those about what has no namespace are in any.
func eventsAbout(ctx context.Context, client *client, k *api.Kind, obj api.Object) ([]*corev1.Event, error) {
	about := fmt.Sprintf("involvedObject.kind=%s,involvedObject.name=%s", k.Name, obj.GetName())
	items, _, err := client.list(ctx, api.Events, &apipb.ListRequest{Namespace: obj.GetNamespace(), FieldSelector: about})
	out := []*corev1.Event{}
	for _, item := range items {
		e := item.(*corev1.Event)
		// Of a former object of the name nothing is told. Who has no UID to tell, such as of
		// a node, gives its name.
		if uid := e.InvolvedObject.UID; uid == "" || uid == obj.GetUID() || string(uid) == obj.GetName() {
			out = append(out, e)
		}
	}
	return out, err
}

func podsOn(ctx context.Context, client *client, node string) ([]*corev1.Pod, error) {
	items, _, err := client.list(ctx, api.Pods, &apipb.ListRequest{FieldSelector: "spec.nodeName=" + node})
	var out []*corev1.Pod
	for _, item := range items {
		out = append(out, item.(*corev1.Pod))
	}
	return out, err
}

// leaseOf returns the Lease that a node's heartbeats renew, or nil if there has been none
// since the server started.
func leaseOf(ctx context.Context, client *client, node string) (*coordinationv1.Lease, error) {
	obj, err := client.get(ctx, api.Leases, corev1.NamespaceNodeLease, node)
	if err != nil {
		if status.Code(err) == codes.NotFound {
			err = nil
		}
		return nil, err
	}
	return obj.(*coordinationv1.Lease), nil
}
