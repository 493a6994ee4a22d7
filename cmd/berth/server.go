// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"net/netip"
	"time"

	"github.com/spf13/cobra"

	"github.com/berth-run/berth/cli"
	"github.com/berth-run/berth/server"
	"github.com/berth-run/berth/store/bolt"
)

// serverFlags are the server's settings, for server and dev alike.
type serverFlags struct {
	http, grpc, socket string
	clusterCIDR        string
	eventTTL           time.Duration
}

const (
	defaultHTTP      = "127.0.0.1:8080"
	defaultSocket    = "/run/berth/berth.sock"
	defaultServerDir = "/var/lib/berth/server"
)

func (f *serverFlags) addFlags(c *cobra.Command) {
	c.Flags().StringVar(&f.http, "http", defaultHTTP, "address of plain REST, on the loopback interface; empty for none")
	c.Flags().StringVar(&f.grpc, "grpc", cli.DefaultServer, "address of plain gRPC, on the loopback interface; empty for none")
	c.Flags().StringVar(&f.socket, "socket", defaultSocket, "path of the unix socket for gRPC; empty for none")
	c.Flags().StringVar(&f.clusterCIDR, "cluster-cidr", server.DefaultClusterCIDR.String(), "range of all pod addresses; each node gets a /24 of it")
	c.Flags().DurationVar(&f.eventTTL, "event-ttl", server.DefaultEventTTL, "how long events are kept after they happened last; 0 keeps them until there are 10,000")
}

// config fills in all but the data directory and the logger.
func (f *serverFlags) config() (server.Config, error) {
	cidr, err := netip.ParsePrefix(f.clusterCIDR)
	if err != nil {
		return server.Config{}, cli.UsageError(fmt.Errorf("--cluster-cidr: %w", err))
	}
	return server.Config{HTTP: f.http, GRPC: f.grpc, Socket: f.socket, ClusterCIDR: cidr, EventTTL: f.eventTTL}, nil
}

func serverCommand() *cobra.Command {
	var f serverFlags
	var logs logFlags
	var dataDir string
	c := &cobra.Command{
		Use:   "server",
		Short: "Keep the desired state of pods and hand it to the nodes",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			log, err := logs.logger()
			if err != nil {
				return err
			}
			cfg, err := f.config()
			if err != nil {
				return err
			}
			cfg.DataDir, cfg.Logger = dataDir, log
			s, err := server.New(c.Context(), cfg)
			if err != nil {
				return err
			}
			return s.Run(c.Context())
		},
	}
	c.Flags().StringVar(&dataDir, "data-dir", defaultServerDir, "directory of the store")
	f.addFlags(c)
	logs.addFlags(c)
	c.AddCommand(compactCommand())
	return c
}

func compactCommand() *cobra.Command {
	var dataDir string
	c := &cobra.Command{
		Use:   "compact",
		Short: "Shrink the store's file while the server is stopped",
		Args:  cobra.NoArgs,
		RunE:  func(*cobra.Command, []string) error { return bolt.Compact(server.StorePath(dataDir)) },
	}
	c.Flags().StringVar(&dataDir, "data-dir", defaultServerDir, "directory of the store")
	return c
}
