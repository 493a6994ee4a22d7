// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/berth-run/berth/api"
	apipb "github.com/berth-run/berth/proto/berth/api/v1"
)

// getFlags are what get and nodes have in common.
type getFlags struct {
	target
	output
	labels string
	fields string
	sortBy string
	watch  bool
	// order is that of sortBy; check sets it.
	order *order
}

func (f *getFlags) addFlags(c *cobra.Command) {
	f.target.addFlags(c)
	f.output.addFlags(c)
	c.Flags().StringVarP(&f.labels, "selector", "l", "", "label selector, such as app=web")
	c.Flags().StringVar(&f.fields, "field-selector", "", "field selector, such as spec.nodeName=node1")
	c.Flags().StringVar(&f.sortBy, "sort-by", "", "JSONPath expression to sort by, such as .metadata.creationTimestamp")
	c.Flags().BoolVar(&f.noHeaders, "no-headers", false, "no header line")
	c.Flags().BoolVar(&f.showLabels, "show-labels", false, "with a column of the labels")
	c.Flags().BoolVarP(&f.watch, "watch", "w", false, "show changes as they come")
}

func getCommand() *cobra.Command {
	var f getFlags
	c := &cobra.Command{
		Use:     "get TYPE [NAME...] | TYPE/NAME...",
		Short:   "Show objects",
		Example: "  berth get pods -A -o wide\n  berth get pod web -o yaml\n  berth get pod web -o jsonpath='{.status.podIP}'\n  berth get pods -l app=web -w",
		RunE:    func(c *cobra.Command, args []string) error { return f.run(c, args) },
	}
	f.addFlags(c)
	f.addAllNamespacesFlag(c)
	return c
}

func nodesCommand() *cobra.Command {
	var f getFlags
	c := &cobra.Command{
		Use:     "nodes [NAME...]",
		Short:   "Show the nodes",
		Example: "  berth nodes -o wide",
		RunE: func(c *cobra.Command, args []string) error {
			return f.run(c, append([]string{api.Nodes.Resource}, args...))
		},
	}
	f.addFlags(c)
	return c
}

func (f *getFlags) run(c *cobra.Command, args []string) error {
	objects, err := objectArgs(args)
	if err := errors.Join(err, f.check()); err != nil {
		return err
	}
	client, closeClient, err := f.connect()
	if err != nil {
		return err
	}
	defer closeClient()
	if f.watch {
		return f.follow(c, client, objects)
	}
	var errs []error
	for i, group := range byKind(objects) {
		if i > 0 && f.table() {
			fmt.Fprintln(c.OutOrStdout())
		}
		if group[0].name == "" {
			err = f.all(c, client, group[0].kind)
		} else {
			err = f.each(c, client, group)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

func (f *getFlags) check() (err error) {
	if f.sortBy != "" {
		if f.order, err = parseOrder(f.sortBy); err != nil {
			return UsageError(fmt.Errorf("--sort-by %w", err))
		}
	}
	return f.output.check()
}

// byKind splits objects where the next is of another kind.
func byKind(objects []named) [][]named {
	var groups [][]named
	for _, o := range objects {
		last := len(groups) - 1
		if last < 0 || groups[last][0].kind != o.kind {
			groups = append(groups, nil)
			last++
		}
		groups[last] = append(groups[last], o)
	}
	return groups
}

// all shows the objects of a kind.
func (f *getFlags) all(c *cobra.Command, client *client, k *api.Kind) error {
	items, version, err := f.list(c.Context(), client, k)
	if err != nil {
		return err
	}
	if len(items) == 0 && f.table() {
		_, err := fmt.Fprintln(c.ErrOrStderr(), "No resources found"+f.where(k)+".")
		return err
	}
	return f.printer(k, f.allNamespaces, c.OutOrStdout()).list(items, version)
}

// list returns the selected objects of a kind and the version at which they stood.
func (f *getFlags) list(ctx context.Context, client *client, k *api.Kind) ([]api.Object, string, error) {
	items, version, err := client.list(ctx, k, &apipb.ListRequest{
		Namespace: f.scope(k), LabelSelector: f.labels, FieldSelector: f.fields,
	})
	if err != nil {
		return nil, "", err
	}
	return items, version, f.sort(k, items)
}

func (f *getFlags) where(k *api.Kind) string {
	if namespace := f.scope(k); namespace != "" {
		return " in namespace " + namespace
	}
	return ""
}

// each shows the named objects of one kind that exist, and fails for those that
// do not.
func (f *getFlags) each(c *cobra.Command, client *client, objects []named) error {
	var found []api.Object
	var errs []error
	for _, o := range objects {
		obj, err := client.get(c.Context(), o.kind, f.scope(o.kind), o.name)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		found = append(found, obj)
	}
	errs = append(errs, f.sort(objects[0].kind, found))
	p := f.printer(objects[0].kind, f.allNamespaces, c.OutOrStdout())
	switch len(found) {
	case 0:
	case 1:
		errs = append(errs, p.one(found[0]))
	default:
		errs = append(errs, p.list(found, ""))
	}
	return errors.Join(errs...)
}
