// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/berth-run/berth/api"
)

// kindNamed finds a kind by its resource, singular, kind or short name, in any
// case.
func kindNamed(name string) (*api.Kind, error) {
	var known []string
	for _, k := range api.Kinds {
		names := append([]string{k.Resource, k.Name}, k.ShortNames...)
		for _, n := range names {
			if strings.EqualFold(n, name) {
				return k, nil
			}
		}
		known = append(known, k.Resource)
	}
	slices.Sort(known)
	return nil, fmt.Errorf("the server has no resource type %q; it has %s", name, strings.Join(known, ", "))
}

// objectArgs reads "pods", "pods,nodes", "pod a b" or "pod/a node/b" into names by
// kind.
func objectArgs(args []string) (out []named, err error) {
	switch {
	case len(args) == 0:
		err = errors.New("name a resource type, such as pods")
	case strings.Contains(args[0], "/"):
		out, err = slashArgs(args)
	default:
		out, err = typeArgs(args)
	}
	return out, UsageError(err)
}

func typeArgs(args []string) ([]named, error) {
	var out []named
	for resource := range strings.SplitSeq(args[0], ",") {
		k, err := kindNamed(resource)
		if err != nil {
			return nil, err
		}
		if len(args) == 1 {
			out = append(out, named{kind: k})
		}
		for _, name := range args[1:] {
			out = append(out, named{k, name})
		}
	}
	return out, nil
}

func slashArgs(args []string) ([]named, error) {
	var out []named
	for _, arg := range args {
		resource, name, ok := strings.Cut(arg, "/")
		if !ok || name == "" {
			return nil, fmt.Errorf("%q: expected TYPE/NAME, as in the arguments before", arg)
		}
		k, err := kindNamed(resource)
		if err != nil {
			return nil, err
		}
		out = append(out, named{k, name})
	}
	return out, nil
}

// named is an object by its kind and name; an empty name means all of the kind.
type named struct {
	kind *api.Kind
	name string
}

func (n named) String() string { return strings.ToLower(n.kind.Name) + "/" + n.name }
