// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/berth-run/berth/api"
	apipb "github.com/berth-run/berth/proto/berth/api/v1"
)

type deleteFlags struct {
	target
	files   []string
	labels  string
	all     bool
	grace   int64
	force   bool
	wait    bool
	timeout time.Duration
}

func deleteCommand() *cobra.Command {
	var f deleteFlags
	c := &cobra.Command{
		Use:   "delete TYPE NAME... | TYPE/NAME... | TYPE -l SELECTOR | TYPE --all | -f FILE...",
		Short: "Delete objects, and wait until they are gone",
		Long: "Delete objects, and wait until they are gone. A pod ends gracefully: its containers get SIGTERM,\n" +
			"and SIGKILL when its grace period is over.",
		Example: "  berth delete pod web\n  berth delete pods -l app=web --grace-period 5\n  berth delete -f pod.yaml",
		RunE:    func(c *cobra.Command, args []string) error { return f.run(c, args) },
	}
	f.target.addFlags(c)
	c.Flags().StringSliceVarP(&f.files, "filename", "f", nil, "file, directory, or - for standard input")
	c.Flags().StringVarP(&f.labels, "selector", "l", "", "label selector, such as app=web")
	c.Flags().BoolVar(&f.all, "all", false, "all objects of the type in the namespace")
	c.Flags().Int64Var(&f.grace, "grace-period", -1, "seconds that a pod may take to end; -1 means its own")
	c.Flags().BoolVar(&f.force, "force", false, "remove the record at once; the node ends the pod as soon as it can")
	c.Flags().BoolVar(&f.wait, "wait", true, "wait until the objects are gone")
	c.Flags().DurationVar(&f.timeout, "timeout", 0, "how long to wait; 0 means for ever")
	return c
}

func (f *deleteFlags) run(c *cobra.Command, args []string) error {
	if f.grace < -1 {
		return fmt.Errorf("--grace-period %d: must be 0 or more, or -1", f.grace)
	}
	client, closeClient, err := f.connect()
	if err != nil {
		return err
	}
	defer closeClient()
	objects, err := f.objects(c, client, args)
	if err != nil {
		return err
	}
	// All are told to end before any is waited for, so they end side by side.
	var errs []error
	replies := make([]api.Object, len(objects))
	for i, o := range objects {
		if replies[i], err = f.deleteOne(c.Context(), client, o); err != nil {
			errs = append(errs, errors.New(message(err)))
		}
	}
	for i, o := range objects {
		if replies[i] == nil {
			continue
		}
		if err := f.waitGone(c.Context(), client, o, replies[i]); err != nil {
			errs = append(errs, errors.New(message(err)))
			continue
		}
		fmt.Fprintf(c.OutOrStdout(), "%s deleted\n", o.named)
	}
	return errors.Join(errs...)
}

// doomed is an object to delete.
type doomed struct {
	named
	namespace string
}

func (f *deleteFlags) objects(c *cobra.Command, client *client, args []string) ([]doomed, error) {
	if len(f.files) > 0 {
		manifests, err := readManifests(f.files, c.InOrStdin())
		if err != nil {
			return nil, err
		}
		// What was created last goes first, so a namespace follows its contents.
		slices.Reverse(manifests)
		var out []doomed
		for _, m := range manifests {
			namespace := m.namespace
			if namespace == "" {
				namespace = f.scope(m.kind)
			}
			out = append(out, doomed{named{m.kind, m.name}, namespace})
		}
		return out, nil
	}
	objects, err := objectArgs(args)
	if err != nil {
		return nil, err
	}
	var out []doomed
	for _, o := range objects {
		if o.name != "" {
			out = append(out, doomed{o, f.scope(o.kind)})
			continue
		}
		found, err := f.selected(c.Context(), client, o.kind)
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
	return out, nil
}

func (f *deleteFlags) selected(ctx context.Context, client *client, k *api.Kind) ([]doomed, error) {
	if f.labels == "" && !f.all {
		return nil, errors.New("name what to delete, or select it with -l or --all")
	}
	items, _, err := client.list(ctx, k, &apipb.ListRequest{Namespace: f.scope(k), LabelSelector: f.labels})
	var out []doomed
	for _, obj := range items {
		out = append(out, doomed{named{k, obj.GetName()}, obj.GetNamespace()})
	}
	return out, err
}

func (f *deleteFlags) deleteOne(ctx context.Context, client *client, o doomed) (api.Object, error) {
	request := &apipb.DeleteRequest{Namespace: o.namespace, Name: o.name}
	switch {
	case f.force:
		request.GracePeriodSeconds = new(int64)
	case f.grace >= 0:
		request.GracePeriodSeconds = &f.grace
	}
	return client.delete(ctx, o.kind, request)
}

var errGone = errors.New("gone")

// waitGone returns when the object that a delete answered with is gone, if that is
// to be waited for; another of the same name does not count.
func (f *deleteFlags) waitGone(ctx context.Context, client *client, o doomed, obj api.Object) error {
	if !f.wait || obj.GetDeletionTimestamp() == nil {
		return nil
	}
	if f.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, f.timeout)
		defer cancel()
	}
	uid := obj.GetUID()
	request := &apipb.WatchRequest{Namespace: o.namespace, Name: o.name, ResourceVersion: obj.GetResourceVersion()}
	for {
		err := client.watch(ctx, o.kind, request, func(t watch.EventType, now api.Object) error {
			if t == watch.Deleted || now.GetUID() != uid {
				return errGone
			}
			return nil
		})
		switch {
		case errors.Is(err, errGone):
			return nil
		case errors.Is(ctx.Err(), context.DeadlineExceeded):
			return fmt.Errorf("%s is not gone after %s; it goes on ending", o.named, f.timeout)
		case ctx.Err() != nil:
			return fmt.Errorf("no longer waiting for %s, which goes on ending", o.named)
		case err != nil && status.Code(err) != codes.OutOfRange && status.Code(err) != codes.Unavailable:
			return err
		}
		current, err := client.get(ctx, o.kind, o.namespace, o.name)
		if status.Code(err) == codes.NotFound || (err == nil && current.GetUID() != uid) {
			return nil
		}
		if err != nil {
			return err
		}
		request.ResourceVersion = current.GetResourceVersion()
	}
}
