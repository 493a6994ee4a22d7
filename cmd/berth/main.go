// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Command berth runs Kubernetes pods on your own machines without Kubernetes. It
// is the server, the agent and the client in one.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/berth-run/berth/cli"
	"github.com/berth-run/berth/internal/version"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := execute(ctx, root()); err != nil {
		for _, text := range cli.Messages(err) {
			fmt.Fprintln(os.Stderr, "berth:", text)
		}
		os.Exit(cli.ExitCode(err))
	}
}

// execute runs the command that the arguments name. What fails before that command
// has begun is wrong usage: an unknown command or flag, too many arguments, too few flags.
func execute(ctx context.Context, root *cobra.Command) error {
	begun := false
	onBegin(root, func() { begun = true })
	err := root.ExecuteContext(ctx)
	if !begun {
		return cli.UsageError(err)
	}
	return err
}

// onBegin has fn called when a command below c begins.
func onBegin(c *cobra.Command, fn func()) {
	for _, sub := range c.Commands() {
		onBegin(sub, fn)
	}
	if run := c.RunE; run != nil {
		c.RunE = func(c *cobra.Command, args []string) error {
			fn()
			return run(c, args)
		}
	}
}

func root() *cobra.Command {
	c := &cobra.Command{
		Use:           "berth",
		Short:         "Run Kubernetes pods on your own machines, without Kubernetes",
		Version:       version.String(),
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	c.AddGroup(&cobra.Group{ID: "run", Title: "Run berth:"}, &cobra.Group{ID: "use", Title: "Use it:"})
	for _, sub := range []*cobra.Command{serverCommand(), agentCommand(), devCommand()} {
		sub.GroupID = "run"
		c.AddCommand(sub)
	}
	for _, sub := range cli.Commands() {
		sub.GroupID = "use"
		c.AddCommand(sub)
	}
	c.AddCommand(versionCommand())
	return c
}
