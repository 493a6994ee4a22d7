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

	"github.com/berth-run/berth/api"
	apipb "github.com/berth-run/berth/proto/berth/api/v1"
)

type deleteFlags struct {
	selection
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
	f.selection.addFlags(c)
	f.addAllFlag(c)
	c.Flags().Int64Var(&f.grace, "grace-period", -1, "seconds that a pod may take to end; -1 means its own")
	c.Flags().BoolVar(&f.force, "force", false, "remove the record at once; the node ends the pod as soon as it can")
	c.Flags().BoolVar(&f.wait, "wait", true, "wait until the objects are gone")
	c.Flags().DurationVar(&f.timeout, "timeout", 0, "how long to wait; 0 means for ever")
	return c
}

func (f *deleteFlags) run(c *cobra.Command, args []string) error {
	if f.grace < -1 {
		return UsageError(fmt.Errorf("--grace-period %d: must be 0 or more, or -1", f.grace))
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
	if len(f.files) > 0 {
		// What was created last goes first, so a namespace follows its contents.
		slices.Reverse(objects)
	}
	// All are told to end before any is waited for, so they end side by side.
	var errs []error
	replies := make([]api.Object, len(objects))
	for i, o := range objects {
		if replies[i], err = f.deleteOne(c.Context(), client, o); err != nil {
			errs = append(errs, err)
		}
	}
	for i, o := range objects {
		if replies[i] == nil {
			continue
		}
		if err := f.waitGone(c.Context(), client, o, replies[i]); err != nil {
			errs = append(errs, err)
			continue
		}
		fmt.Fprintf(c.OutOrStdout(), "%s deleted\n", o.named)
	}
	return errors.Join(errs...)
}

func (f *deleteFlags) deleteOne(ctx context.Context, client *client, o chosen) (api.Object, error) {
	request := &apipb.DeleteRequest{Namespace: o.namespace, Name: o.name}
	switch {
	case f.force:
		request.GracePeriodSeconds = new(int64)
	case f.grace >= 0:
		request.GracePeriodSeconds = &f.grace
	}
	return client.delete(ctx, o.kind, request)
}

// waitGone returns when the object that a delete answered with is gone, if that is
// to be waited for; another of the same name does not count.
func (f *deleteFlags) waitGone(ctx context.Context, client *client, o chosen, obj api.Object) error {
	if !f.wait || obj.GetDeletionTimestamp() == nil {
		return nil
	}
	if f.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, f.timeout)
		defer cancel()
	}
	err := client.track(ctx, o.kind, at{obj, obj.GetResourceVersion()}, func(api.Object) error { return nil })
	switch {
	case errors.Is(err, errGone):
		return nil
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return fmt.Errorf("%s is not gone after %s; it goes on ending", o.named, f.timeout)
	case ctx.Err() != nil:
		return fmt.Errorf("no longer waiting for %s, which goes on ending", o.named)
	}
	return err
}
