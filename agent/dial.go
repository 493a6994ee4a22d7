// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"fmt"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

// serverDialOptions are those of every connection to the server.
func serverDialOptions() []grpc.DialOption {
	return []grpc.DialOption{grpc.WithTransportCredentials(insecure.NewCredentials())}
}

// dialServer returns a connection for single calls, which is made with the first.
func dialServer(address string) (*grpc.ClientConn, error) {
	conn, err := grpc.NewClient(address, append([]grpc.DialOption{grpc.WithNoProxy()}, serverDialOptions()...)...)
	if err != nil {
		return nil, fmt.Errorf("server address %q: %w", address, err)
	}
	return conn, nil
}
