// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"cmp"
	"context"
	"net"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-run/berth/agent/reach"
)

// TCP asks whether the container takes a connection.
func TCP(ctx context.Context, tcp *corev1.TCPSocketAction, c *corev1.Container, podIP string, timeout time.Duration) Outcome {
	port, err := reach.Port(tcp.Port, c)
	if err != nil {
		return unknown(err)
	}
	ctx, cancel := withTimeout(ctx, timeout)
	defer cancel()
	conn, err := reach.NewDialer().DialContext(ctx, "tcp", net.JoinHostPort(cmp.Or(tcp.Host, podIP), strconv.Itoa(port)))
	if err != nil {
		return failure(because(ctx, err))
	}
	_ = conn.Close() // it was taken
	return success("")
}

// because names why the context ended, which the dialer does not.
func because(ctx context.Context, err error) string {
	if cause := context.Cause(ctx); cause != nil {
		return cause.Error()
	}
	return err.Error()
}
