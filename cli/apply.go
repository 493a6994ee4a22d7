// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/berth-run/berth/api"
	apipb "github.com/berth-run/berth/proto/berth/api/v1"
)

// applyFlags are what apply and diff have in common.
type applyFlags struct {
	target
	files    []string
	validate string
	manager  string
	force    bool
}

func (f *applyFlags) addFlags(c *cobra.Command) {
	f.target.addFlags(c)
	c.Flags().StringSliceVarP(&f.files, "filename", "f", nil, "file, directory, or - for standard input")
	c.Flags().StringVar(&f.validate, "validate", "strict", validateUsage)
	c.Flags().StringVar(&f.manager, "field-manager", manager, "who says what the fields shall be")
	c.Flags().BoolVar(&f.force, "force-conflicts", false, "take over fields that belong to other managers")
	_ = c.MarkFlagRequired("filename")
}

// apply says what the fields of a manifest shall be, or with dryRun what would come
// of that.
func (f *applyFlags) apply(ctx context.Context, client *client, m manifest, dryRun bool) (api.Object, []string, error) {
	request := &apipb.ApplyRequest{
		Namespace: m.namespace, Name: m.name, Manifest: m.content,
		FieldManager: f.manager, Force: f.force, FieldValidation: validations[f.validate],
	}
	if dryRun {
		request.DryRun = []string{"All"}
	}
	obj, warnings, err := client.call(ctx, m.kind, "Apply", request)
	return obj, warnings, explainConflicts(err)
}

// live returns the object that a manifest is about, or nil if there is none.
func (f *applyFlags) live(ctx context.Context, client *client, m manifest) (api.Object, error) {
	obj, err := client.get(ctx, m.kind, m.namespace, m.name)
	if status.Code(err) == codes.NotFound {
		return nil, nil
	}
	return obj, err
}

// each calls fn for each manifest of the files and joins what fails.
func (f *applyFlags) each(c *cobra.Command, fn func(*client, manifest) error) error {
	if err := checkValidation(f.validate); err != nil {
		return err
	}
	return f.eachManifest(c, f.files, fn)
}

func applyCommand() *cobra.Command {
	var f applyFlags
	var o output
	var dryRun string
	c := &cobra.Command{
		Use:   "apply -f FILE...",
		Short: "Make objects what files say, and create those that are missing",
		Long: "Make objects what files say, and create those that are missing. This is server-side apply: the files\n" +
			"name the fields that matter, and one that was applied before and is named no more is removed. A\n" +
			"field that belongs to another manager is left to it, with an error, unless --force-conflicts is given.\n" +
			"One that does not exist is an error with any --validate.",
		Args:    cobra.NoArgs,
		Example: "  berth apply -f pod.yaml\n  berth apply -f directory --dry-run=server\n  cat pod.json | berth apply -f -",
		RunE: func(c *cobra.Command, _ []string) error {
			if dryRun != "none" && dryRun != "server" {
				return UsageError(fmt.Errorf("--dry-run %q: must be none or server", dryRun))
			}
			if err := o.check(); err != nil {
				return err
			}
			return f.each(c, func(client *client, m manifest) error { return f.applyOne(c, client, m, &o, dryRun == "server") })
		},
	}
	f.addFlags(c)
	o.addFlags(c)
	c.Flags().StringVar(&dryRun, "dry-run", "none", "none, or server, which says what would happen and changes nothing")
	return c
}

// applyOne applies a manifest and says what that has done.
func (f *applyFlags) applyOne(c *cobra.Command, client *client, m manifest, o *output, dryRun bool) error {
	before, err := f.live(c.Context(), client, m)
	if err != nil {
		return err
	}
	after, warnings, err := f.apply(c.Context(), client, m, dryRun)
	if err != nil {
		return err
	}
	for _, w := range warnings {
		fmt.Fprintln(c.ErrOrStderr(), "Warning:", w)
	}
	done, err := changeOf(m.kind, before, after)
	if err != nil {
		return err
	}
	if dryRun {
		done += " (server dry run)"
	}
	return show(c, o, m.kind, after, done)
}
