// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"context"
	"fmt"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

// rawGRPC is a client of one connection that sends messages that were encoded
// before, and does not decode the answers.
type rawGRPC struct {
	ctx      context.Context
	conn     *grpc.ClientConn
	method   string
	requests [][]byte
}

func grpcSenders(b *testing.B, address, method string, requests [][]byte) []sender {
	b.Helper()
	out := make([]sender, clients)
	for i := range out {
		conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()),
			grpc.WithDefaultCallOptions(grpc.ForceCodec(rawCodec{})))
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { conn.Close() })
		conn.Connect()
		out[i] = &rawGRPC{b.Context(), conn, method, requests}
	}
	return out
}

func (c *rawGRPC) send(i int) error {
	var answer []byte
	return c.conn.Invoke(c.ctx, c.method, c.requests[i], &answer)
}

// rawCodec takes messages as bytes.
type rawCodec struct{}

func (rawCodec) Name() string { return "proto" }

func (rawCodec) Marshal(v any) ([]byte, error) {
	encoded, ok := v.([]byte)
	if !ok {
		return nil, fmt.Errorf("cannot send a %T", v)
	}
	return encoded, nil
}

func (rawCodec) Unmarshal(data []byte, v any) error {
	answer, ok := v.(*[]byte)
	if !ok {
		return fmt.Errorf("cannot receive a %T", v)
	}
	*answer = data
	return nil
}
