// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/berth-run/berth/api"
)

// states writes objects as they are and as files would make them to files of the same
// name in two directories. What does not exist has no file.
type states struct {
	*applyFlags
	live, merged string
	// coming are the namespaces that do not exist and that the files make. The server
	// cannot say what would come of objects in them.
	coming map[string]bool
}

func newStates(f *applyFlags, dir string) (*states, error) {
	s := &states{f, filepath.Join(dir, "LIVE"), filepath.Join(dir, "MERGED"), map[string]bool{}}
	return s, errors.Join(os.Mkdir(s.live, 0o700), os.Mkdir(s.merged, 0o700))
}

// add writes the states of the object that a manifest is about.
func (s *states) add(ctx context.Context, client *client, m manifest) error {
	before, after, err := s.of(ctx, client, m)
	if err != nil {
		return err
	}
	if m.kind == api.Secrets {
		mask(before, after)
	}
	name := strings.Join([]string{m.kind.GroupVersionKind().GroupVersion().String(), m.kind.Name, m.namespace, m.name}, ".")
	name = strings.ReplaceAll(name, "/", ".")
	if before != nil {
		err = writeYAML(filepath.Join(s.live, name), before)
	}
	return errors.Join(err, writeYAML(filepath.Join(s.merged, name), after))
}

// of returns an object as it is, nil if it does not exist, and as it would be.
func (s *states) of(ctx context.Context, client *client, m manifest) (before, after map[string]any, err error) {
	if s.coming[m.namespace] {
		return nil, m.intent(), nil
	}
	now, err := s.applyFlags.live(ctx, client, m)
	if err != nil {
		return nil, nil, err
	}
	then, _, err := s.apply(ctx, client, m, true)
	if err != nil {
		return nil, nil, err
	}
	if m.kind == api.Namespaces && now == nil {
		s.coming[m.name] = true
	}
	before, err = intentOf(m.kind, now)
	if err != nil {
		return nil, nil, err
	}
	after, err = intentOf(m.kind, then)
	return before, after, err
}

func writeYAML(path string, content map[string]any) error {
	text, err := yaml.Marshal(content)
	if err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o600)
}
