// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package describe tells all that there is to know of an object as a text for people,
// in the shape that kubectl's users know. Its functions are pure.
package describe

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"k8s.io/cli-runtime/pkg/printers"
)

// none stands where there is nothing.
const none = "<none>"

// page is a text of labels with their values beside them, indented by section.
type page struct {
	out    strings.Builder
	tabs   *tabwriter.Writer
	indent string
}

// write returns the page that fill fills.
func write(fill func(*page)) string {
	p := &page{}
	p.tabs = tabwriter.NewWriter(&p.out, 0, 8, 2, ' ', 0)
	fill(p)
	p.tabs.Flush() // to memory, which does not fail
	return p.out.String()
}

// inCell makes a text fit for a cell.
var inCell = strings.NewReplacer("\t", "    ", "\n", " ", "\f", " ", "\v", " ")

func (p *page) row(cells ...string) {
	fit := make([]string, len(cells))
	for i, c := range cells {
		fit[i] = printers.EscapeTerminal(inCell.Replace(c))
	}
	fmt.Fprintf(p.tabs, "%s%s\n", p.indent, strings.Join(fit, "\t"))
}

// field shows a value beside its label, and its further lines below.
func (p *page) field(label string, value any) {
	text := strings.TrimRight(fmt.Sprint(value), "\n")
	if text == "" {
		text = none
	}
	p.list(label, strings.Split(text, "\n"))
}

// given shows a value if there is one.
func (p *page) given(label, value string) {
	if value != "" {
		p.field(label, value)
	}
}

// list shows the first line beside the label and the others below it.
func (p *page) list(label string, lines []string) {
	if len(lines) == 0 {
		lines = []string{none}
	}
	label += ":"
	for _, line := range lines {
		p.row(label, line)
		label = ""
	}
}

// section shows a label, and below it what fill shows, in columns of its own.
func (p *page) section(label string, fill func()) {
	p.row(label + ":")
	p.tabs.Flush()
	outer := p.indent
	p.indent += "  "
	fill()
	p.indent = outer
	p.tabs.Flush()
}

// table shows rows below a label.
func (p *page) table(label string, header []string, rows [][]string) {
	if len(rows) == 0 {
		p.field(label, none)
		return
	}
	p.section(label, func() {
		p.row(header...)
		for _, r := range rows {
			p.row(r...)
		}
	})
}
