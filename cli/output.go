// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/printers"

	"github.com/berth-run/berth/api"
	"github.com/berth-run/berth/api/table"
)

// output is the form in which objects are shown.
type output struct {
	format    string
	noHeaders bool
}

func (o *output) addFlags(c *cobra.Command) {
	c.Flags().StringVarP(&o.format, "output", "o", "", "output format: wide, json, yaml or name")
	c.Flags().BoolVar(&o.noHeaders, "no-headers", false, "no header line")
}

func (o *output) check() error {
	switch o.format {
	case "", "wide", "json", "yaml", "name":
		return nil
	}
	return fmt.Errorf("--output %q: must be wide, json, yaml or name", o.format)
}

// printer shows objects of one kind.
type printer struct {
	kind  *api.Kind
	print printers.ResourcePrinter
	// rows tells that print takes tables, lists that it takes whole lists.
	rows, lists bool
	out         io.Writer
}

func (o *output) printer(k *api.Kind, withNamespace bool, out io.Writer) *printer {
	switch o.format {
	case "json":
		return &printer{kind: k, print: &printers.JSONPrinter{}, lists: true, out: out}
	case "yaml":
		return &printer{kind: k, print: &printers.YAMLPrinter{}, lists: true, out: out}
	case "name":
		return &printer{kind: k, print: &printers.NamePrinter{ShortOutput: true}, out: out}
	}
	options := printers.PrintOptions{
		Wide: o.format == "wide", WithNamespace: withNamespace && k.Namespaced, NoHeaders: o.noHeaders,
	}
	return &printer{kind: k, print: printers.NewTablePrinter(options), rows: true, out: out}
}

// list shows objects as one table, one list, or one after another.
func (p *printer) list(items []api.Object, resourceVersion string) error {
	switch {
	case p.rows:
		return p.table(items)
	case p.lists:
		list, err := api.NewList(p.kind, metav1.ListMeta{ResourceVersion: resourceVersion}, typed(p.kind, items))
		if err != nil {
			return err
		}
		return p.print.PrintObj(list, p.out)
	}
	for _, obj := range items {
		if err := p.one(obj); err != nil {
			return err
		}
	}
	return nil
}

// one shows one object, or one row more of the table that was begun.
func (p *printer) one(obj api.Object) error {
	if p.rows {
		return p.table([]api.Object{obj})
	}
	return p.print.PrintObj(api.Typed(p.kind, obj), p.out)
}

func (p *printer) table(items []api.Object) error {
	t := &metav1.Table{ColumnDefinitions: table.Columns(p.kind)}
	now := time.Now()
	for _, obj := range items {
		t.Rows = append(t.Rows, table.Row(p.kind, obj, now))
	}
	return p.print.PrintObj(t, p.out)
}

func typed(k *api.Kind, items []api.Object) []api.Object {
	out := make([]api.Object, len(items))
	for i, obj := range items {
		out[i] = api.Typed(k, obj)
	}
	return out
}
