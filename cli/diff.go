// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/spf13/cobra"
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
	s, err := newStates(f, dir)
	if err != nil {
		return err
	}
	if err := f.each(c, func(client *client, m manifest) error { return s.add(c.Context(), client, m) }); err != nil {
		return err
	}
	return compare(c, dir)
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
