// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/berth-run/berth/api"
)

func createCommand() *cobra.Command {
	return writeCommand("create", "Create", "created", "Create objects from files")
}

func replaceCommand() *cobra.Command {
	return writeCommand("replace", "Update", "replaced", "Replace objects by those in files")
}

// writeCommand makes a verb that sends each object of the given files.
func writeCommand(name, verb, done, short string) *cobra.Command {
	var t target
	var o output
	var files []string
	c := &cobra.Command{
		Use:     name + " -f FILE...",
		Short:   short,
		Args:    cobra.NoArgs,
		Example: "  berth " + name + " -f pod.yaml\n  cat pod.json | berth " + name + " -f -",
		RunE: func(c *cobra.Command, _ []string) error {
			if err := o.check(); err != nil {
				return err
			}
			manifests, err := readManifests(files, c.InOrStdin())
			if err != nil {
				return err
			}
			client, closeClient, err := t.connect()
			if err != nil {
				return err
			}
			defer closeClient()
			var errs []error
			for _, m := range manifests {
				if err := writeOne(c, client, verb, done, &t, &o, m); err != nil {
					errs = append(errs, fmt.Errorf("%s: %s", named{m.kind, m.name}, Message(err)))
				}
			}
			return errors.Join(errs...)
		},
	}
	t.addFlags(c)
	o.addFlags(c)
	c.Flags().StringSliceVarP(&files, "filename", "f", nil, "file, directory, or - for standard input")
	_ = c.MarkFlagRequired("filename")
	return c
}

func writeOne(c *cobra.Command, client *client, verb, done string, t *target, o *output, m manifest) error {
	namespace := cmp.Or(m.namespace, t.namespace)
	obj, warnings, err := client.write(c.Context(), m.kind, verb, namespace, m.name, m.content)
	if err != nil {
		return err
	}
	for _, w := range warnings {
		fmt.Fprintln(c.ErrOrStderr(), "Warning:", w)
	}
	return show(c, o, m.kind, obj, done)
}

// show prints what was done to an object: a sentence, or the object where a format
// was asked for.
func show(c *cobra.Command, o *output, k *api.Kind, obj api.Object, done string) error {
	if o.format == "" {
		_, err := fmt.Fprintf(c.OutOrStdout(), "%s %s\n", named{k, obj.GetName()}, done)
		return err
	}
	return o.printer(k, false, c.OutOrStdout()).one(obj)
}
