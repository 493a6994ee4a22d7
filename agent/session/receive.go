// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package session

import (
	"context"
	"fmt"

	"google.golang.org/protobuf/proto"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-run/berth/agent/podtypes"
	"github.com/berth-run/berth/api"
	nodepb "github.com/berth-run/berth/proto/berth/node/v1"
)

// take acts on one message. An error ends the session.
func (k *connection) take(ctx context.Context, m *nodepb.ServerMessage) error {
	if w := m.GetWelcome(); w != nil {
		return k.takeWelcome(w)
	}
	if k.storeID == "" {
		return fmt.Errorf("the server sends %T before Welcome", m.GetMessage())
	}
	switch m := m.GetMessage().(type) {
	case *nodepb.ServerMessage_Objects:
		return k.takeObjects(m.Objects)
	case *nodepb.ServerMessage_PodUpdate:
		return k.takePodUpdate(ctx, m.PodUpdate)
	case *nodepb.ServerMessage_Synced:
		return k.takeSynced(ctx)
	case *nodepb.ServerMessage_StatusAck:
		k.takeAck(m.StatusAck)
	}
	// A message that a newer server knows is no reason to leave it.
	return nil
}

func (k *connection) takeWelcome(w *nodepb.Welcome) error {
	if w.GetStoreId() == "" || k.storeID != "" {
		return fmt.Errorf("the server's Welcome makes no sense: store %q after %q", w.GetStoreId(), k.storeID)
	}
	node, err := api.ToObject(api.Nodes, w.GetNode())
	if err != nil {
		return fmt.Errorf("the server's Welcome: %w", err)
	}
	k.storeID, k.foreign = w.GetStoreId(), k.formerStore != "" && k.formerStore != w.GetStoreId()
	k.connected.Store(true)
	close(k.welcome)
	k.config.Logger.Info("session with the server begins",
		"store", k.storeID, "serverVersion", w.GetServerVersion())
	if k.foreign {
		k.config.Logger.Error("the server has another store than this node's pods came from: "+
			"pods that it names are run, but for those whose names are taken, and none that it does not know is ended until its store is adopted by removing the file",
			"store", k.storeID, "formerStore", k.formerStore, "file", k.config.StoreFile)
	}
	if k.config.OnWelcome != nil {
		k.config.OnWelcome(node.(*corev1.Node))
	}
	return nil
}

// mayRemove: an unfinished set of another store removes nothing.
func (k *connection) mayRemove() bool { return !k.foreign || k.synced }

func (k *connection) takeObjects(m *nodepb.Objects) error {
	for _, secret := range m.GetSecrets() {
		if err := k.setObject(api.Secrets, secret); err != nil {
			return err
		}
	}
	for _, configMap := range m.GetConfigMaps() {
		if err := k.setObject(api.ConfigMaps, configMap); err != nil {
			return err
		}
	}
	for _, class := range m.GetRuntimeClasses() {
		if err := k.setObject(api.RuntimeClasses, class); err != nil {
			return err
		}
	}
	if k.mayRemove() {
		for _, key := range m.GetRemoved() {
			k.config.Objects.Remove(key.GetKind(), key.GetNamespace(), key.GetName())
		}
	}
	return nil
}

func (k *connection) setObject(kind *api.Kind, m proto.Message) error {
	obj, err := api.ToObject(kind, m)
	if err != nil {
		return fmt.Errorf("the server sends a %s that cannot be read: %w", kind.Name, err)
	}
	return k.config.Objects.Set(obj)
}

var ops = map[nodepb.PodUpdate_Op]podtypes.Op{
	nodepb.PodUpdate_ADD:       podtypes.ADD,
	nodepb.PodUpdate_UPDATE:    podtypes.UPDATE,
	nodepb.PodUpdate_DELETE:    podtypes.DELETE,
	nodepb.PodUpdate_REMOVE:    podtypes.REMOVE,
	nodepb.PodUpdate_RECONCILE: podtypes.RECONCILE,
}

func (k *connection) takePodUpdate(ctx context.Context, m *nodepb.PodUpdate) error {
	op, ok := ops[m.GetOp()]
	if !ok {
		return fmt.Errorf("the server sends the unknown operation %v", m.GetOp())
	}
	if op == podtypes.REMOVE && !k.mayRemove() {
		return nil
	}
	update := podtypes.PodUpdate{Op: op, Source: podtypes.ServerSource}
	if k.foreign {
		update.Store = k.storeID
	}
	for _, p := range m.GetPods() {
		obj, err := api.ToObject(api.Pods, p)
		if err != nil {
			return fmt.Errorf("the server sends a pod that cannot be read: %w", err)
		}
		update.Pods = append(update.Pods, obj.(*corev1.Pod))
	}
	return k.deliver(ctx, update)
}

// takeSynced passes on that the set is complete, unless it is another store's,
// and remembers the store: from then on the node's pods are that store's.
func (k *connection) takeSynced(ctx context.Context) error {
	k.synced = true
	if k.foreign {
		return nil
	}
	if err := k.deliver(ctx, podtypes.PodUpdate{Op: podtypes.SYNCED, Source: podtypes.ServerSource}); err != nil {
		return err
	}
	return writeStoreID(k.config.StoreFile, k.storeID)
}

func (k *connection) deliver(ctx context.Context, u podtypes.PodUpdate) error {
	select {
	case k.config.Updates <- u:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// takeAck: a report that was refused is settled as well; it would be refused
// again.
func (k *connection) takeAck(ack *nodepb.StatusAck) {
	if ack.GetError() != "" {
		k.config.Logger.Info("the server refuses the status of a pod", "uid", ack.GetUid(), "err", ack.GetError())
	}
	k.config.Statuses.Ack(types.UID(ack.GetUid()), ack.GetVersion())
}
