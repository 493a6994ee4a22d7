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

// selection is which objects a verb works on: those of files, those that are named,
// or those that are selected by a label or the lack of any choice.
type selection struct {
	target
	files  []string
	labels string
	all    bool
}

func (s *selection) addFlags(c *cobra.Command) {
	s.target.addFlags(c)
	c.Flags().StringSliceVarP(&s.files, "filename", "f", nil, "file, directory, or - for standard input")
	c.Flags().StringVarP(&s.labels, "selector", "l", "", "label selector, such as app=web")
}

func (s *selection) addAllFlag(c *cobra.Command) {
	c.Flags().BoolVar(&s.all, "all", false, "all objects of the type in the namespace")
}

// chosen is an object of a selection.
type chosen struct {
	named
	namespace string
	// at is set if the object has been read already.
	at
}

// objects returns what is selected, in the order of the files or arguments.
func (s *selection) objects(c *cobra.Command, client *client, args []string) ([]chosen, error) {
	if len(s.files) > 0 {
		if len(args) > 0 {
			return nil, UsageError(errors.New("name what to work on, or give files, not both"))
		}
		return s.fromFiles(c)
	}
	objects, err := objectArgs(args)
	if err != nil {
		return nil, err
	}
	var out []chosen
	for _, o := range objects {
		if o.name != "" {
			out = append(out, chosen{named: o, namespace: s.scope(o.kind)})
			continue
		}
		found, err := s.selected(c.Context(), client, o.kind)
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
	return out, nil
}

func (s *selection) fromFiles(c *cobra.Command) ([]chosen, error) {
	manifests, err := s.manifests(c, s.files)
	var out []chosen
	for _, m := range manifests {
		out = append(out, chosen{named: named{m.kind, m.name}, namespace: m.namespace})
	}
	return out, err
}

func (s *selection) selected(ctx context.Context, client *client, k *api.Kind) ([]chosen, error) {
	if s.labels == "" && !s.all {
		return nil, UsageError(fmt.Errorf("name the %s, or select them with -l or --all", k.Resource))
	}
	items, version, err := client.list(ctx, k, &apipb.ListRequest{Namespace: s.scope(k), LabelSelector: s.labels})
	var out []chosen
	for _, obj := range items {
		out = append(out, chosen{named{k, obj.GetName()}, obj.GetNamespace(), at{obj, version}})
	}
	return out, err
}
