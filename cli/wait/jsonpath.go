// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package wait

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/util/jsonpath"

	"github.com/berth-run/berth/api"
)

// path is a goal: a JSONPath expression finds that value in the object's manifest,
// or any at all.
type path struct {
	expression string
	parsed     *jsonpath.JSONPath
	value      string
	any        bool
}

// parseJSONPath reads {EXPRESSION}[=VALUE], and the same without the braces.
func parseJSONPath(argument string) (*path, error) {
	expression, rest := cutExpression(argument)
	value, has := strings.CutPrefix(rest, "=")
	switch {
	case strings.Trim(expression, "{.} ") == "":
		return nil, fmt.Errorf("jsonpath=%s: no expression; write jsonpath='{.status.podIP}' or jsonpath='{.status.phase}'=Running", argument)
	case !has && rest != "":
		return nil, fmt.Errorf("jsonpath=%s: after the expression, %q is not =VALUE", argument, rest)
	case has && value == "":
		return nil, fmt.Errorf("jsonpath=%s: there is no value after the =", argument)
	}
	p := &path{expression: expression, parsed: jsonpath.New("wait").AllowMissingKeys(true), value: value, any: !has}
	if err := p.parsed.Parse(expression); err != nil {
		return nil, fmt.Errorf("jsonpath=%s: %w", argument, err)
	}
	return p, nil
}

// cutExpression splits an argument where its expression ends: behind its last brace,
// or before the first = outside of brackets.
func cutExpression(argument string) (expression, rest string) {
	if strings.HasPrefix(argument, "{") {
		end := strings.LastIndex(argument, "}") + 1
		return argument[:end], argument[end:]
	}
	depth, end := 0, len(argument)
	for i, r := range argument {
		switch r {
		case '[':
			depth++
		case ']':
			depth--
		}
		if r == '=' && depth == 0 {
			end = i
			break
		}
	}
	return "{." + strings.TrimPrefix(argument[:end], ".") + "}", argument[end:]
}

func (p *path) check(k *api.Kind, obj api.Object) (Verdict, error) {
	manifest, err := runtime.DefaultUnstructuredConverter.ToUnstructured(api.Typed(k, obj))
	if err != nil {
		return Verdict{}, err
	}
	results, err := p.parsed.FindResults(manifest)
	if err != nil {
		return Verdict{}, err
	}
	found := values(results)
	switch {
	case len(found) == 0:
		return Verdict{Seen: p.expression + " finds nothing"}, nil
	case p.any:
		return Verdict{Outcome: Met}, nil
	case len(found) > 1:
		return Verdict{}, fmt.Errorf("the expression finds %d values, not one", len(found))
	}
	return p.compare(found[0])
}

// values are those that an expression has found, nulls left out.
func values(results [][]reflect.Value) []any {
	var out []any
	for _, list := range results {
		for _, v := range list {
			if v.IsValid() && v.CanInterface() && v.Interface() != nil {
				out = append(out, v.Interface())
			}
		}
	}
	return out
}

func (p *path) compare(found any) (Verdict, error) {
	switch found.(type) {
	case map[string]any, []any:
		return Verdict{}, errors.New("the expression finds no single value, but a list or an object")
	}
	text := fmt.Sprint(found)
	if text == strings.TrimSpace(p.value) {
		return Verdict{Outcome: Met}, nil
	}
	return Verdict{Seen: fmt.Sprintf("%s is %q", p.expression, text)}, nil
}
