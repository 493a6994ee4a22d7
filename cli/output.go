// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"io"
	"time"

	"github.com/liggitt/tabwriter"
	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/printers"

	"github.com/berth-run/berth/api"
	"github.com/berth-run/berth/api/table"
)

// output is the form in which objects are shown.
type output struct {
	format                                   string
	noHeaders, showLabels, showManagedFields bool
	// form shows objects in another form than a table; check sets it.
	form
}

func (o *output) addFlags(c *cobra.Command) {
	c.Flags().StringVarP(&o.format, "output", "o", "",
		"output format: wide, json, yaml, name, jsonpath=TEMPLATE or go-template=TEMPLATE")
	c.Flags().BoolVar(&o.showManagedFields, "show-managed-fields", false, "with the managedFields in JSON and YAML")
}

// table tells whether objects are shown as rows of a table.
func (o *output) table() bool { return o.format == "" || o.format == "wide" }

// check reads the format.
func (o *output) check() (err error) {
	if o.table() {
		return nil
	}
	if o.form, err = formNamed(o.format, o.showManagedFields); err != nil {
		return UsageError(fmt.Errorf("--output %w", err))
	}
	return nil
}

// printer shows objects of one kind.
type printer struct {
	kind *api.Kind
	form
	out io.Writer
	// columns is set where print takes tables: it writes to out, and gives the
	// rows of a later table the widths of those before.
	columns *tabwriter.Writer
}

func (o *output) printer(k *api.Kind, withNamespace bool, out io.Writer) *printer {
	if !o.table() {
		return &printer{kind: k, form: o.form, out: out}
	}
	options := printers.PrintOptions{
		Wide: o.format == "wide", WithNamespace: withNamespace && k.Namespaced, NoHeaders: o.noHeaders, ShowLabels: o.showLabels,
	}
	return &printer{
		kind: k, form: form{print: printers.NewTablePrinter(options)}, out: out, columns: printers.GetNewTabWriter(out),
	}
}

// list shows objects as one table, one list, or one after another.
func (p *printer) list(items []api.Object, resourceVersion string) error {
	if !p.lists {
		return p.each(items)
	}
	list, err := api.NewList(p.kind, metav1.ListMeta{ResourceVersion: resourceVersion}, typed(p.kind, items))
	if err != nil {
		return err
	}
	return p.print.PrintObj(list, p.out)
}

// each shows objects as one table, or one after another.
func (p *printer) each(items []api.Object) error {
	if p.columns != nil && len(items) > 0 {
		return p.table(items)
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
	if p.columns != nil {
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
	if err := p.print.PrintObj(t, p.columns); err != nil {
		return err
	}
	return p.columns.Flush()
}

func typed(k *api.Kind, items []api.Object) []api.Object {
	out := make([]api.Object, len(items))
	for i, obj := range items {
		out[i] = api.Typed(k, obj)
	}
	return out
}
