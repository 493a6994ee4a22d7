// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"strings"

	"k8s.io/cli-runtime/pkg/printers"
)

// form is how objects are written out.
type form struct {
	print printers.ResourcePrinter
	// lists tells that print takes whole lists.
	lists bool
}

// formNamed reads a format that is no table, such as json or jsonpath={.kind}.
func formNamed(format string, managedFields bool) (form, error) {
	name, template, has := strings.Cut(format, "=")
	switch {
	case format == "name":
		return form{print: &printers.NamePrinter{ShortOutput: true}}, nil
	case format == "json":
		return whole(&printers.JSONPrinter{}, managedFields), nil
	case format == "yaml":
		return whole(&printers.YAMLPrinter{}, managedFields), nil
	case name == "jsonpath" && has && template != "":
		return jsonPathForm(template)
	case name == "go-template" && has && template != "":
		return goTemplateForm(template)
	}
	return form{}, fmt.Errorf("%q: must be wide, json, yaml, name, jsonpath=TEMPLATE or go-template=TEMPLATE", format)
}

// whole is a form with all of an object. The managedFields are mostly in the way.
func whole(p printers.ResourcePrinter, managedFields bool) form {
	if !managedFields {
		p = &printers.OmitManagedFieldsPrinter{Delegate: p}
	}
	return form{p, true}
}

func jsonPathForm(template string) (form, error) {
	p, err := printers.NewJSONPathPrinter(template)
	if err != nil {
		return form{}, fmt.Errorf("jsonpath=%s: %w", template, err)
	}
	p.AllowMissingKeys(true)
	return form{p, true}, nil
}

func goTemplateForm(template string) (form, error) {
	p, err := printers.NewGoTemplatePrinter([]byte(template))
	if err != nil {
		return form{}, fmt.Errorf("go-template=%s: %w", template, err)
	}
	p.AllowMissingKeys(true)
	return form{p, true}, nil
}
