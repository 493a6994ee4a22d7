// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/berth-run/berth/agent"
	"github.com/berth-run/berth/cli"
	"github.com/berth-run/berth/internal/rungroup"
	"github.com/berth-run/berth/server"
)

func devCommand() *cobra.Command {
	var f serverFlags
	var logs logFlags
	var dir, runtimeDir, imagesDir string
	var nodes int
	c := &cobra.Command{
		Use:   "dev",
		Short: "Run a server and some nodes on this machine",
		Long: "Run a server and some nodes on this machine, each with a runtime of its own, until Ctrl-C.\n" +
			"Pods run on then, and are found again by the next start; berth dev down removes everything.",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if nodes < 1 {
				return cli.UsageError(fmt.Errorf("--nodes %d: must be 1 or more", nodes))
			}
			log, err := logs.logger()
			if err != nil {
				return err
			}
			cfg, err := f.config()
			if err != nil {
				return err
			}
			if cfg.GRPC == "" && cfg.Socket == "" {
				return cli.UsageError(errors.New("--grpc and --socket: one must be given, as the nodes reach the server by it"))
			}
			if dir, err = filepath.Abs(dir); err != nil {
				return err
			}
			cfg.DataDir, cfg.Logger = filepath.Join(dir, devServerName), log
			d, err := claimDevDir(dir)
			if err != nil {
				return err
			}
			defer d.Close()
			return runDev(c.Context(), cfg, devNodes(dir, nodes, cfg, agent.Config{RuntimeDir: runtimeDir, ImagesDir: imagesDir}))
		},
	}
	c.Flags().IntVar(&nodes, "nodes", 1, "how many nodes")
	c.Flags().StringVar(&runtimeDir, "runtime-dir", defaultRuntimeDir(), "directory of containerd, runc and the CNI plugins ($"+runtimeVariable+")")
	c.Flags().StringVar(&imagesDir, "images-dir", "", "directory of image archives (*.tar, OCI or docker save) to import at start; default: images in --runtime-dir")
	c.Flags().StringVar(&dir, "dir", defaultDevDir, "directory of everything")
	f.addFlags(c)
	logs.addFlags(c)
	c.AddCommand(devDownCommand())
	return c
}

// devNodes configures the nodes node1 to nodeN. They reach the server as others
// would: by its gRPC listener. common has what all nodes share.
func devNodes(dir string, n int, s server.Config, common agent.Config) []agent.Config {
	address := s.GRPC
	if address == "" {
		address = "unix://" + s.Socket
	}
	var out []agent.Config
	for i := range n {
		name := fmt.Sprint(devNodePrefix, i+1)
		node := common
		node.Name, node.Server, node.StateDir = name, address, filepath.Join(dir, name)
		node.ClusterCIDR, node.MaxPods, node.Logger = s.ClusterCIDR, agent.DefaultMaxPods, s.Logger
		out = append(out, node)
	}
	return out
}

func runDev(ctx context.Context, cfg server.Config, nodes []agent.Config) error {
	s, err := server.New(ctx, cfg)
	if err != nil {
		return err
	}
	var g rungroup.Group
	g.Add("server", s.Run)
	for _, n := range nodes {
		a, err := agent.New(n)
		if err != nil {
			return errors.Join(err, s.Close())
		}
		g.Add(n.Name, a.Run)
	}
	return g.Run(ctx)
}
