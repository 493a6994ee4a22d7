// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"github.com/berth-run/berth/api"
)

func diffCommand() *cobra.Command {
	var f applyFlags
	c := &cobra.Command{
		Use:   "diff -f FILE...",
		Short: "Show what apply would change",
		Long: "Show what apply would change, by diff -u -N or the program in $BERTH_EXTERNAL_DIFF or\n" +
			"$KUBECTL_EXTERNAL_DIFF. What a Secret holds is masked. The exit code is 0 if nothing would change,\n" +
			"1 if something would, and more than 1 for an error.",
		Args:    cobra.NoArgs,
		Example: "  berth diff -f pod.yaml\n  BERTH_EXTERNAL_DIFF='diff -y' berth diff -f directory",
		RunE:    func(c *cobra.Command, _ []string) error { return diffResult(f.diff(c)) },
	}
	f.addFlags(c)
	return c
}

// diffResult gives an error the exit code that tells it from a difference.
func diffResult(err error) error {
	if err == nil || errors.As(err, new(*exitError)) {
		return err
	}
	return &exitError{exitUsage, err}
}

func (f *applyFlags) diff(c *cobra.Command) error {
	dir, err := os.MkdirTemp("", "berth-diff-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	live, merged := filepath.Join(dir, "LIVE"), filepath.Join(dir, "MERGED")
	if err := errors.Join(os.Mkdir(live, 0o700), os.Mkdir(merged, 0o700)); err != nil {
		return err
	}
	if err := f.each(c, func(client *client, m manifest) error { return f.states(c.Context(), client, m, live, merged) }); err != nil {
		return err
	}
	return compare(c, dir)
}

// states writes an object as it is and as it would be to files of the same name in
// two directories. What does not exist has no file.
func (f *applyFlags) states(ctx context.Context, client *client, m manifest, live, merged string) error {
	now, err := f.live(ctx, client, m)
	if err != nil {
		return err
	}
	then, _, err := f.apply(ctx, client, m, true)
	if err != nil {
		return err
	}
	before, err := intentOf(m.kind, now)
	if err != nil {
		return err
	}
	after, err := intentOf(m.kind, then)
	if err != nil {
		return err
	}
	if m.kind == api.Secrets {
		mask(before, after)
	}
	name := strings.Join([]string{m.kind.GroupVersionKind().GroupVersion().String(), m.kind.Name, m.namespace, m.name}, ".")
	name = strings.ReplaceAll(name, "/", ".")
	if before != nil {
		err = writeYAML(filepath.Join(live, name), before)
	}
	return errors.Join(err, writeYAML(filepath.Join(merged, name), after))
}

func writeYAML(path string, content map[string]any) error {
	text, err := yaml.Marshal(content)
	if err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o600)
}

// compare has a program show the difference between the two directories.
func compare(c *cobra.Command, dir string) error {
	words := strings.Fields(cmp.Or(os.Getenv("BERTH_EXTERNAL_DIFF"), os.Getenv("KUBECTL_EXTERNAL_DIFF"), "diff -u -N"))
	if len(words) == 0 {
		return errors.New("$BERTH_EXTERNAL_DIFF: no program")
	}
	program := exec.CommandContext(c.Context(), words[0], append(words[1:], "LIVE", "MERGED")...)
	program.Dir, program.Stdout, program.Stderr = dir, c.OutOrStdout(), c.ErrOrStderr()
	err := program.Run()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.ExitCode() == 1 {
		return &exitError{code: 1}
	}
	if err != nil {
		return fmt.Errorf("%s: %w", words[0], err)
	}
	return nil
}
