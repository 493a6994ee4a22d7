// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"sigs.k8s.io/yaml"

	"github.com/berth-run/berth/api"
)

type editFlags struct {
	target
	validate string
}

func editCommand() *cobra.Command {
	var f editFlags
	c := &cobra.Command{
		Use:   "edit TYPE NAME | TYPE/NAME",
		Short: "Change an object in an editor",
		Long: "Change an object in an editor: that of $KUBE_EDITOR, $EDITOR, or vi. What the server refuses comes up\n" +
			"again with the reason; what cannot be saved at last is kept in a file.",
		Args:    cobra.RangeArgs(1, 2),
		Example: "  berth edit configmap/app\n  EDITOR=nano berth edit pod web",
		RunE:    func(c *cobra.Command, args []string) error { return f.run(c, args) },
	}
	f.addFlags(c)
	c.Flags().StringVar(&f.validate, "validate", "strict", validateUsage)
	return c
}

func (f *editFlags) run(c *cobra.Command, args []string) error {
	if err := checkValidation(f.validate); err != nil {
		return err
	}
	objects, err := objectArgs(args)
	if err != nil {
		return err
	}
	if len(objects) != 1 || objects[0].name == "" {
		return UsageError(errors.New("edit takes one object, such as configmap/app"))
	}
	client, closeClient, err := f.connect()
	if err != nil {
		return err
	}
	defer closeClient()
	o := objects[0]
	obj, err := client.get(c.Context(), o.kind, f.scope(o.kind), o.name)
	if err != nil {
		return err
	}
	text, err := editable(o.kind, obj)
	if err != nil {
		return err
	}
	e := &editing{
		file: newDraft(c, o), original: text,
		save: func(text string) error { return f.save(c.Context(), client, o, text) },
	}
	saved, err := e.run()
	if err != nil {
		return fmt.Errorf("%s: %s", o, message(err))
	}
	if !saved {
		_, err = fmt.Fprintln(c.OutOrStdout(), "Edit cancelled, no changes made.")
		return err
	}
	_, err = fmt.Fprintf(c.OutOrStdout(), "%s edited\n", o)
	return err
}

// save replaces the object by what a text says. The text has the version that it was
// made from, so that nobody's change is undone.
func (f *editFlags) save(ctx context.Context, client *client, o named, text string) error {
	manifests, err := decodeManifests([]byte(text))
	if err != nil {
		return &refused{err}
	}
	if len(manifests) != 1 || manifests[0].kind != o.kind || manifests[0].name != o.name {
		return &refused{fmt.Errorf("it must stay the one object %s", o)}
	}
	_, _, err = client.write(ctx, o.kind, "Update", f.scope(o.kind), o.name, validations[f.validate], manifests[0].content)
	switch status.Code(err) {
	case codes.InvalidArgument, codes.PermissionDenied:
		return &refused{err}
	case codes.Aborted:
		return errors.New("somebody has changed it meanwhile, so nothing was saved; edit it again and carry your changes over")
	}
	return err
}

// editable is the text of an object to edit, without what cannot be changed in it.
func editable(k *api.Kind, obj api.Object) (string, error) {
	content, err := contentOf(k, obj)
	if err != nil {
		return "", err
	}
	delete(content, "status")
	removeMetadata(content, "managedFields")
	text, err := yaml.Marshal(content)
	return string(text), err
}
