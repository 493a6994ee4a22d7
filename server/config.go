// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"path/filepath"
	"time"
)

// Config says where a server keeps its data and where it listens.
type Config struct {
	// DataDir holds the store. It is made if it is missing.
	DataDir string
	// HTTP is the address of plain REST, GRPC that of plain gRPC: host:port on the
	// loopback interface. An empty one is not served.
	HTTP string
	GRPC string
	// Socket is the path of a unix socket for gRPC; empty means none.
	Socket string
	// ClusterCIDR holds the pod ranges of all nodes, a /24 each.
	ClusterCIDR netip.Prefix
	// EventTTL is how long events are kept after they happened last; 0 means until
	// there are too many.
	EventTTL time.Duration
	Logger   *slog.Logger
}

// DefaultClusterCIDR has room for 4,096 nodes.
var DefaultClusterCIDR = netip.MustParsePrefix("10.128.0.0/12")

// DefaultEventTTL is that of Kubernetes.
const DefaultEventTTL = time.Hour

// storeFile is the store's file in the data directory.
const storeFile = "berth.db"

// StorePath is where the store of a data directory lies.
func StorePath(dataDir string) string { return filepath.Join(dataDir, storeFile) }

// TokenKeyPath is where the key lies that signs the tokens of ServiceAccounts.
func TokenKeyPath(dataDir string) string { return filepath.Join(dataDir, "serviceaccounts.key") }

func (c *Config) validate() error {
	if c.DataDir == "" {
		return fmt.Errorf("data directory: must be given")
	}
	if c.EventTTL < 0 {
		return fmt.Errorf("event TTL %v: must not be negative", c.EventTTL)
	}
	for field, address := range map[string]string{"HTTP address": c.HTTP, "gRPC address": c.GRPC} {
		if err := requireLoopback(address); err != nil {
			return fmt.Errorf("%s %q: %w", field, address, err)
		}
	}
	return nil
}

// requireLoopback refuses addresses that others reach: these listeners ask nobody
// who they are.
func requireLoopback(address string) error {
	if address == "" {
		return nil
	}
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("must be host:port: %w", err)
	}
	if ip, err := netip.ParseAddr(host); host == "localhost" || err == nil && ip.IsLoopback() {
		return nil
	}
	return fmt.Errorf("must be on the loopback interface, such as 127.0.0.1: connections are not encrypted or authenticated yet")
}
