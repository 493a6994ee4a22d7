// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/berth-run/berth/api"
	apipb "github.com/berth-run/berth/proto/berth/api/v1"
)

// getFlags are what get and nodes have in common.
type getFlags struct {
	target
	output
	labels string
	watch  bool
}

func (f *getFlags) addFlags(c *cobra.Command) {
	f.target.addFlags(c)
	f.output.addFlags(c)
	c.Flags().StringVarP(&f.labels, "selector", "l", "", "label selector, such as app=web")
	c.Flags().BoolVarP(&f.watch, "watch", "w", false, "show changes as they come")
}

func getCommand() *cobra.Command {
	var f getFlags
	c := &cobra.Command{
		Use:     "get TYPE [NAME...] | TYPE/NAME...",
		Short:   "Show objects",
		Example: "  berth get pods -A -o wide\n  berth get pod web -o yaml\n  berth get pods -l app=web -w",
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
	if err := errors.Join(err, f.output.check()); err != nil {
		return err
	}
	client, closeClient, err := f.connect()
	if err != nil {
		return err
	}
	defer closeClient()
	switch {
	case f.watch:
		return f.follow(c, client, objects)
	case objects[0].name == "":
		return f.all(c, client, objects[0].kind)
	}
	return f.each(c, client, objects)
}

func (f *getFlags) all(c *cobra.Command, client *client, k *api.Kind) error {
	items, version, err := client.list(c.Context(), k, f.scope(k), f.labels)
	if err != nil {
		return err
	}
	if len(items) == 0 && (f.format == "" || f.format == "wide") {
		_, err := fmt.Fprintln(c.ErrOrStderr(), "No resources found"+f.where(k)+".")
		return err
	}
	return f.printer(k, f.allNamespaces, c.OutOrStdout()).list(items, version)
}

func (f *getFlags) where(k *api.Kind) string {
	if namespace := f.scope(k); namespace != "" {
		return " in namespace " + namespace
	}
	return ""
}

// each shows the named objects that exist and fails for those that do not.
func (f *getFlags) each(c *cobra.Command, client *client, objects []named) error {
	var errs []error
	var p *printer
	for _, o := range objects {
		obj, err := client.get(c.Context(), o.kind, f.scope(o.kind), o.name)
		if err != nil {
			errs = append(errs, errors.New(Message(err)))
			continue
		}
		if p == nil || p.kind != o.kind {
			p = f.printer(o.kind, f.allNamespaces, c.OutOrStdout())
		}
		if err := p.one(obj); err != nil {
			return err
		}
	}
	return errors.Join(errs...)
}

// follow shows what exists and then every change, until it is interrupted.
func (f *getFlags) follow(c *cobra.Command, client *client, objects []named) error {
	if len(objects) > 1 {
		return errors.New("--watch takes one name or none")
	}
	k := objects[0].kind
	p := f.printer(k, f.allNamespaces, c.OutOrStdout())
	request := &apipb.WatchRequest{Namespace: f.scope(k), LabelSelector: f.labels, Name: objects[0].name}
	err := client.watch(c.Context(), k, request, func(_ watch.EventType, obj api.Object) error { return p.one(obj) })
	if errors.Is(c.Context().Err(), context.Canceled) {
		return nil
	}
	return err
}
