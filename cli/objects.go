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
// case, also with its group after it as in leases.coordination.k8s.io. The error
// for a kind of Kubernetes that berth does not have says what to do instead.
func kindNamed(name string) (*api.Kind, error) {
	var known []string
	for _, k := range api.Kinds {
		if isNamed(k, name) {
			return k, nil
		}
		known = append(known, k.Resource)
	}
	for _, k := range api.AbsentKinds {
		if isNamed(&k.Kind, name) {
			return nil, errors.New(k.Instead())
		}
	}
	slices.Sort(known)
	return nil, fmt.Errorf("the server has no resource type %q; it has %s", name, strings.Join(known, ", "))
}

func isNamed(k *api.Kind, name string) bool {
	return slices.ContainsFunc(append([]string{k.Resource, k.Name}, k.ShortNames...), func(n string) bool {
		return strings.EqualFold(n, name) || k.Group != "" && strings.EqualFold(n+"."+k.Group, name)
	})
}

// kindsNamed finds the kinds of a category such as all, or the one kind of that name.
func kindsNamed(name string) ([]*api.Kind, error) {
	var members []*api.Kind
	for _, k := range api.Kinds {
		if slices.Contains(k.Categories, strings.ToLower(name)) {
			members = append(members, k)
		}
	}
	if len(members) > 0 {
		return members, nil
	}
	k, err := kindNamed(name)
	return []*api.Kind{k}, err
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
		kinds, err := kindsNamed(resource)
		if err != nil {
			return nil, err
		}
		for _, k := range kinds {
			out = append(out, namedArgs(k, args[1:])...)
		}
	}
	return out, nil
}

// namedArgs are the objects of a kind with those names, or all of the kind.
func namedArgs(k *api.Kind, names []string) []named {
	if len(names) == 0 {
		return []named{{kind: k}}
	}
	var out []named
	for _, name := range names {
		out = append(out, named{k, name})
	}
	return out
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
