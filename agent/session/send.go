// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"google.golang.org/protobuf/proto"
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-run/berth/agent/podtypes"
	"github.com/berth-run/berth/api"
	"github.com/berth-run/berth/internal/nodestatus"
	corepb "github.com/berth-run/berth/proto/berth/core/v1"
	nodepb "github.com/berth-run/berth/proto/berth/node/v1"
)

// send writes to the server until the stream breaks or ctx ends.
func (k *connection) send(ctx context.Context) error {
	err := k.sendAll(ctx)
	// The stream is broken: why, only reading it tells.
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

func (k *connection) sendAll(ctx context.Context) error {
	told, err := k.sendHello()
	if err != nil {
		return err
	}
	if err := k.sendInventory(); err != nil {
		return err
	}
	k.config.Statuses.Resend()
	if err := k.sendStatuses(); err != nil {
		return err
	}
	heartbeat := time.NewTicker(k.config.HeartbeatEvery)
	defer heartbeat.Stop()
	welcome := k.welcome
	late := time.NewTimer(welcomeWithin)
	defer late.Stop()
	for {
		var err error
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-welcome:
			late.Stop()
			welcome = nil
		case <-late.C:
			return errNoWelcome
		case <-k.config.Statuses.Changed():
			err = k.sendStatuses()
		case event := <-k.config.Events:
			err = k.sendEvent(event)
		case <-k.config.Node.Changed():
			told, err = k.sendNodeStatus(told)
		case <-heartbeat.C:
			err = k.sendMessage(&nodepb.AgentMessage{Message: &nodepb.AgentMessage_Heartbeat{Heartbeat: &nodepb.Heartbeat{}}})
		}
		if err != nil {
			return err
		}
	}
}

func (k *connection) sendMessage(m *nodepb.AgentMessage) error { return k.stream.Send(m) }

// sendHello returns the status of the node that it tells.
func (k *connection) sendHello() (*corev1.NodeStatus, error) {
	node := k.config.Node.Registration()
	m := &corepb.Node{}
	if err := api.FromObject(node, m); err != nil {
		return nil, fmt.Errorf("node %q cannot be sent: %w", node.Name, err)
	}
	return &node.Status, k.sendMessage(&nodepb.AgentMessage{Message: &nodepb.AgentMessage_Hello{Hello: &nodepb.Hello{
		Node: m, NodeId: k.config.NodeID, StoreId: k.formerStore, AgentVersion: k.config.Version,
	}}})
}

// keysPerMessage keeps a message of an inventory below 1 MiB.
const keysPerMessage = 1000

func (k *connection) sendInventory() error {
	for keys := range slices.Chunk(k.inventory(), keysPerMessage) {
		if err := k.sendKeys(&nodepb.Inventory{Objects: keys}); err != nil {
			return err
		}
	}
	return k.sendKeys(&nodepb.Inventory{Done: true})
}

func (k *connection) sendKeys(m *nodepb.Inventory) error {
	return k.sendMessage(&nodepb.AgentMessage{Message: &nodepb.AgentMessage_Inventory{Inventory: m}})
}

// inventory names all that the node has from the server.
func (k *connection) inventory() []*nodepb.ObjectKey {
	var keys []*nodepb.ObjectKey
	for _, pod := range k.config.Pods.Pods(podtypes.ServerSource) {
		keys = append(keys, keyOf(api.Pods, pod))
	}
	for _, o := range k.config.Objects.All() {
		keys = append(keys, keyOf(api.ReferencedKind(o), o))
	}
	return keys
}

func keyOf(kind *api.Kind, o api.Object) *nodepb.ObjectKey {
	return &nodepb.ObjectKey{
		Kind:            kind.Name,
		Namespace:       o.GetNamespace(),
		Name:            o.GetName(),
		Uid:             string(o.GetUID()),
		ResourceVersion: o.GetResourceVersion(),
	}
}

func (k *connection) sendStatuses() error {
	for _, r := range k.config.Statuses.Dirty() {
		status := &corepb.PodStatus{}
		if err := decodeInto(&r.Status, status); err != nil {
			// It would fail again; the next change of the pod makes a new one.
			k.config.Logger.Error("the status of a pod cannot be sent", "pod", r.Namespace+"/"+r.Name, "uid", r.UID, "err", err)
			continue
		}
		if err := k.sendMessage(&nodepb.AgentMessage{Message: &nodepb.AgentMessage_PodStatus{PodStatus: &nodepb.PodStatusReport{
			Namespace:  r.Namespace,
			Name:       r.Name,
			Uid:        string(r.UID),
			Version:    r.Version,
			Status:     status,
			Terminated: r.Terminated,
		}}}); err != nil {
			return err
		}
	}
	return nil
}

// sendNodeStatus sends the node's status if it says more than what was told, and
// returns what is told now.
func (k *connection) sendNodeStatus(told *corev1.NodeStatus) (*corev1.NodeStatus, error) {
	now := &k.config.Node.Registration().Status
	if nodestatus.Equal(told, now) {
		return told, nil
	}
	status := &corepb.NodeStatus{}
	if err := decodeInto(now, status); err != nil {
		k.config.Logger.Error("the node's status cannot be sent", "err", err)
		return told, nil
	}
	return now, k.sendMessage(&nodepb.AgentMessage{Message: &nodepb.AgentMessage_NodeStatus{
		NodeStatus: &nodepb.NodeStatusReport{Status: status},
	}})
}

func (k *connection) sendEvent(event *corev1.Event) error {
	m := &corepb.Event{}
	if err := api.FromObject(event, m); err != nil {
		k.config.Logger.Error("an event cannot be sent", "reason", event.Reason, "err", err)
		return nil
	}
	return k.sendMessage(&nodepb.AgentMessage{Message: &nodepb.AgentMessage_Event{Event: &nodepb.EventReport{Event: m}}})
}

// decodeInto makes a typed message of a Kubernetes value. It fails for what could
// not be sent, such as invalid UTF-8: on the wire that would end the session.
func decodeInto(from interface{ Marshal() ([]byte, error) }, m proto.Message) error {
	encoded, err := from.Marshal()
	if err != nil {
		return err
	}
	return proto.Unmarshal(encoded, m)
}
