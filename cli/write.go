// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-run/berth/api"
)

func createCommand() *cobra.Command {
	return writeCommand("create", "Create objects from files", writeFlags{verb: "Create", done: "created"})
}

func replaceCommand() *cobra.Command {
	return writeCommand("replace", "Replace objects by those in files", writeFlags{verb: "Update", done: "replaced"})
}

const validateUsage = "what becomes of unknown fields: strict refuses, warn names, ignore drops them"

// validations are the values of --validate, as the API names them.
var validations = map[string]string{
	"strict": metav1.FieldValidationStrict, "warn": metav1.FieldValidationWarn, "ignore": metav1.FieldValidationIgnore,
}

// writeFlags are those of a verb that sends each object of the given files.
type writeFlags struct {
	target
	output
	files    []string
	validate string
	// verb is the method, done what it has done to an object.
	verb, done string
}

func writeCommand(name, short string, f writeFlags) *cobra.Command {
	c := &cobra.Command{
		Use:     name + " -f FILE...",
		Short:   short,
		Args:    cobra.NoArgs,
		Example: "  berth " + name + " -f pod.yaml\n  cat pod.json | berth " + name + " -f -",
		RunE:    func(c *cobra.Command, _ []string) error { return f.run(c) },
	}
	f.target.addFlags(c)
	f.output.addFlags(c)
	c.Flags().StringSliceVarP(&f.files, "filename", "f", nil, "file, directory, or - for standard input")
	c.Flags().StringVar(&f.validate, "validate", "strict", validateUsage)
	_ = c.MarkFlagRequired("filename")
	return c
}

func (f *writeFlags) run(c *cobra.Command) error {
	if err := f.check(); err != nil {
		return err
	}
	return f.eachManifest(c, f.files, func(client *client, m manifest) error { return f.one(c, client, m) })
}

func (f *writeFlags) check() error {
	if err := checkValidation(f.validate); err != nil {
		return err
	}
	return f.output.check()
}

func checkValidation(name string) error {
	if _, ok := validations[name]; !ok {
		return UsageError(fmt.Errorf("--validate %q: must be strict, warn or ignore", name))
	}
	return nil
}

// one sends one object and prints what came of it.
func (f *writeFlags) one(c *cobra.Command, client *client, m manifest) error {
	obj, warnings, err := client.write(c.Context(), m.kind, f.verb, m.namespace, m.name, validations[f.validate], m.content)
	if err != nil {
		return err
	}
	for _, w := range warnings {
		fmt.Fprintln(c.ErrOrStderr(), "Warning:", w)
	}
	return show(c, &f.output, m.kind, obj, f.done)
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
