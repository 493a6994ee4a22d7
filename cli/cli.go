// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package cli has the verbs with which users work on a server, such as create, get
// and wait, over gRPC.
package cli

import (
	"cmp"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/berth-run/berth/api"
)

// DefaultServer is where a server on this machine listens for gRPC.
const DefaultServer = "127.0.0.1:7444"

// serverVariable names the environment variable for the server's address.
const serverVariable = "BERTH_SERVER"

// ServerUsage describes the flag for the server's address.
const ServerUsage = "address of the server's gRPC listener, host:port or unix:///path ($" + serverVariable + ")"

// Server is the address of the server where no flag gives another.
func Server() string { return cmp.Or(os.Getenv(serverVariable), DefaultServer) }

// Commands returns the client verbs.
func Commands() []*cobra.Command {
	verbs := []*cobra.Command{
		createCommand(), applyCommand(), replaceCommand(), editCommand(), labelCommand(), annotateCommand(), diffCommand(),
		getCommand(), describeCommand(), deleteCommand(), waitCommand(), logsCommand(), nodesCommand(),
	}
	for _, c := range verbs {
		run := c.RunE
		c.RunE = func(c *cobra.Command, args []string) error { return readable(run(c, args)) }
	}
	return verbs
}

// target is which server and namespace a verb works on.
type target struct {
	server        string
	namespace     string
	allNamespaces bool
}

const namespaceFlag = "namespace"

func (t *target) addFlags(c *cobra.Command) {
	c.Flags().StringVarP(&t.server, "server", "s", Server(), ServerUsage)
	c.Flags().StringVarP(&t.namespace, namespaceFlag, "n", "default", "namespace")
}

func (t *target) addAllNamespacesFlag(c *cobra.Command) {
	c.Flags().BoolVarP(&t.allNamespaces, "all-namespaces", "A", false, "all namespaces instead of one")
}

// scope returns the namespace to ask for objects of kind k.
func (t *target) scope(k *api.Kind) string {
	if t.allNamespaces || !k.Namespaced {
		return ""
	}
	return t.namespace
}

// connect returns a client and a function that closes its connection.
func (t *target) connect() (*client, func(), error) {
	conn, err := grpc.NewClient(t.server,
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithNoProxy(),
		grpc.WithConnectParams(grpc.ConnectParams{Backoff: reconnect, MinConnectTimeout: minConnectTimeout}),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxMessage)))
	if err != nil {
		return nil, nil, fmt.Errorf("server %s: %w", t.server, err)
	}
	return &client{conn}, func() { conn.Close() }, nil
}

// reconnect is how a verb that waits meets a server that is started again: soon.
var reconnect = backoff.Config{BaseDelay: 200 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: 2 * time.Second}

// minConnectTimeout is how long a server may take to accept a connection.
const minConnectTimeout = 20 * time.Second

// maxMessage bounds an answer, in bytes: a page of the largest objects fits.
const maxMessage = 1 << 30
