// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package dispatch

import (
	"context"
	"errors"
	"fmt"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-run/berth/api"
)

// refuse returns the status for an agent that gets no session. The operator is
// told of it once: the agent comes back every few seconds.
func (d *Dispatcher) refuse(ctx context.Context, who agent, err error) error {
	var taken *takenError
	if !errors.As(err, &taken) {
		return d.ended(ctx, err)
	}
	if !taken.again {
		d.logger.Warn("an agent is refused: another one has its node's name", "node", who.node,
			"id", who.id, "address", who.address, "holder", taken.holder.id, "holderAddress", taken.holder.address)
		d.tellTaken(ctx, who, taken)
	}
	return status.Error(codes.AlreadyExists, taken.Error())
}

// tellTaken puts an event on the Node that two agents want.
func (d *Dispatcher) tellTaken(ctx context.Context, who agent, taken *takenError) {
	event := nodeNameTaken(who, taken, metav1.Now())
	if err := d.options.Events.Store(ctx, event); err != nil && ctx.Err() == nil {
		d.logger.Warn("an event is not stored", "reason", event.Reason, "err", err)
	}
}

func nodeNameTaken(who agent, taken *takenError, now metav1.Time) *corev1.Event {
	return &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: metav1.NamespaceDefault, Name: api.EventName(who.node, now.UnixNano()),
		},
		InvolvedObject: corev1.ObjectReference{
			APIVersion: "v1", Kind: api.Nodes.Name, Name: who.node, UID: taken.node,
		},
		Type: corev1.EventTypeWarning, Reason: "NodeNameTaken",
		Message: fmt.Sprintf("another agent (id %s, address %s) was refused, as this node is connected from the agent of id %s, address %s; give it another --node-name",
			who.id, who.address, taken.holder.id, taken.holder.address),
		Source: corev1.EventSource{Component: api.ServerComponent}, ReportingController: api.ServerComponent,
		Count: 1, FirstTimestamp: now, LastTimestamp: now,
	}
}

// addressOf returns where a call comes from.
func addressOf(ctx context.Context) string {
	if p, ok := peer.FromContext(ctx); ok {
		return p.Addr.String()
	}
	return "unknown"
}
