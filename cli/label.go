// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-run/berth/api"
	apipb "github.com/berth-run/berth/proto/berth/api/v1"
)

// labelFlags are those of a verb that changes one map of the metadata.
type labelFlags struct {
	selection
	overwrite bool
	// field is the map, entry what is in it, set and removed what was done to an object.
	field, entry, set, removed string
}

func labelCommand() *cobra.Command {
	return metadataCommand("label", labelFlags{field: "labels", entry: "label", set: "labeled", removed: "unlabeled"},
		"  berth label pod web tier=front old-\n  berth label node/node1 disk=ssd --overwrite")
}

func annotateCommand() *cobra.Command {
	return metadataCommand("annotate", labelFlags{field: "annotations", entry: "annotation", set: "annotated", removed: "annotated"},
		"  berth annotate pod web description='the front page' old-\n  berth annotate pods -l app=web owner=ops --overwrite")
}

func metadataCommand(verb string, f labelFlags, example string) *cobra.Command {
	c := &cobra.Command{
		Use:     verb + " TYPE NAME... | TYPE/NAME... | TYPE -l SELECTOR | TYPE --all KEY=VALUE... KEY-...",
		Short:   "Set " + f.field + " of objects, or with KEY- remove them",
		Example: example,
		RunE:    func(c *cobra.Command, args []string) error { return f.run(c, args) },
	}
	f.selection.addFlags(c)
	f.addAllFlag(c)
	c.Flags().BoolVar(&f.overwrite, "overwrite", false, "also change what has another value")
	return c
}

func (f *labelFlags) run(c *cobra.Command, args []string) error {
	objectArgs, entries, err := splitEntries(args)
	if err != nil {
		return UsageError(err)
	}
	client, closeClient, err := f.connect()
	if err != nil {
		return err
	}
	defer closeClient()
	objects, err := f.objects(c, client, objectArgs)
	if err != nil {
		return err
	}
	var errs []error
	for _, o := range objects {
		if err := f.change(c, client, o, entries); err != nil {
			errs = append(errs, fmt.Errorf("%s: %s", o.named, message(err)))
		}
	}
	return errors.Join(errs...)
}

// splitEntries takes the entries, KEY=VALUE or KEY-, off the end of the arguments. A
// nil value removes its key.
func splitEntries(args []string) (objects []string, entries map[string]*string, err error) {
	first := slices.IndexFunc(args, func(a string) bool { return strings.Contains(a, "=") || strings.HasSuffix(a, "-") })
	if first < 0 {
		return nil, nil, errors.New("say what to set, as KEY=VALUE, or to remove, as KEY-")
	}
	entries = map[string]*string{}
	for _, arg := range args[first:] {
		key, value, set := strings.Cut(arg, "=")
		if !set {
			key = strings.TrimSuffix(arg, "-")
		}
		_, twice := entries[key]
		switch {
		case key == "" || !set && key == arg:
			return nil, nil, fmt.Errorf("%q: must be KEY=VALUE or KEY-", arg)
		case twice:
			return nil, nil, fmt.Errorf("%q: is given twice", key)
		}
		if entries[key] = nil; set {
			entries[key] = &value
		}
	}
	return args[:first], entries, nil
}

// change sets and removes the entries of one object, and says what that has done.
func (f *labelFlags) change(c *cobra.Command, client *client, o chosen, entries map[string]*string) (err error) {
	obj := o.obj
	if obj == nil {
		if obj, err = client.get(c.Context(), o.kind, o.namespace, o.name); err != nil {
			return err
		}
	}
	current := obj.GetLabels()
	if f.field == "annotations" {
		current = obj.GetAnnotations()
	}
	differ, err := newEntries(current, entries, f.overwrite)
	if err != nil {
		return err
	}
	for _, key := range missing(current, entries) {
		fmt.Fprintf(c.OutOrStdout(), "%s %q not found.\n", f.entry, key)
	}
	if err := f.send(c.Context(), client, o, obj, differ); err != nil {
		return err
	}
	_, err = fmt.Fprintln(c.OutOrStdout(), o.named, f.done(differ))
	return err
}

// send changes an object by the entries that differ, if there are any.
func (f *labelFlags) send(ctx context.Context, client *client, o chosen, obj api.Object, differ map[string]*string) error {
	if len(differ) == 0 {
		return nil
	}
	metadata := map[string]any{f.field: differ}
	if !f.overwrite {
		metadata["resourceVersion"] = obj.GetResourceVersion() // a value that came meanwhile is not changed either
	}
	patch, err := json.Marshal(map[string]any{"metadata": metadata})
	if err != nil {
		return err
	}
	return client.patch(ctx, o, patch)
}

// done says what the entries that differed have done to an object.
func (f *labelFlags) done(differ map[string]*string) string {
	if len(differ) == 0 {
		return "unchanged"
	}
	for _, value := range differ {
		if value != nil {
			return f.set
		}
	}
	return f.removed
}

// missing are the keys of the entries to remove that are not there.
func missing(current map[string]string, entries map[string]*string) []string {
	var keys []string
	for key, value := range entries {
		if _, has := current[key]; value == nil && !has {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

// newEntries leaves out what is so already, and refuses to change a value unless that
// is wanted.
func newEntries(current map[string]string, entries map[string]*string, overwrite bool) (map[string]*string, error) {
	differ := map[string]*string{}
	for key, value := range entries {
		old, has := current[key]
		switch {
		case value == nil && !has, value != nil && has && *value == old:
			continue
		case value != nil && has && !overwrite:
			return nil, fmt.Errorf("%s is %q already; --overwrite changes it", key, old)
		}
		differ[key] = value
	}
	return differ, nil
}

// patch sends a merge patch.
func (c *client) patch(ctx context.Context, o chosen, patch []byte) error {
	_, _, err := c.call(ctx, o.kind, "Patch", &apipb.PatchRequest{
		Namespace: o.namespace, Name: o.name, Type: string(types.MergePatchType), Patch: patch, FieldManager: manager,
	})
	return err
}

// manager is how the verbs are known among those who say what fields shall be.
const manager = "berth"
