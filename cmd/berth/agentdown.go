// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/berth-run/berth/agent"
)

func agentDownCommand() *cobra.Command {
	var logs logFlags
	var cfg agent.DownConfig
	const endpointFlag = "runtime-endpoint"
	c := &cobra.Command{
		Use:   "down",
		Short: "End the node's pods and remove all that its agent made",
		Long: "End the node's pods at once and remove all that its agent made on this machine: pods, containerd,\n" +
			"network, cgroups, firewall rules and the state directory. The agent must have ended. Of a runtime that\n" +
			"others use too, only this node's pods are removed. What others put into the directory stays.\n" +
			"The command can be repeated.\n\n" +
			"To let pods end gracefully, delete them first. The server keeps the node until berth delete node NAME.",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) (err error) {
			if cfg.Logger, err = logs.logger(); err != nil {
				return err
			}
			if !c.Flags().Changed(endpointFlag) {
				cfg.RuntimeEndpoints = nil
			}
			cfg.RuntimeEndpoints = slices.DeleteFunc(cfg.RuntimeEndpoints, func(e string) bool { return e == "" })
			return agent.Down(c.Context(), cfg)
		},
	}
	c.Flags().StringVar(&cfg.StateDir, "state-dir", defaultAgentDir, "directory of the node's state")
	c.Flags().StringSliceVar(&cfg.RuntimeEndpoints, endpointFlag, nil, "CRI sockets to remove the node's pods from; default: those that its agent used; empty for none, if they are gone for good")
	logs.addFlags(c)
	return c
}
