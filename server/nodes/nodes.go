// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package nodes keeps the Node objects true to what agents say of their machines,
// gives each node its range of pod addresses, and knows in memory which agents
// are there.
package nodes

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/berth-run/berth/api"
	"github.com/berth-run/berth/internal/nodestatus"
	"github.com/berth-run/berth/server/registry"
)

// Registry is what Nodes needs of the registry.
type Registry interface {
	Get(ctx context.Context, k *api.Kind, namespace, name string) (api.Object, error)
	List(ctx context.Context, k *api.Kind, namespace string, o registry.ListOptions) (registry.List, error)
	Create(ctx context.Context, k *api.Kind, obj api.Object, o registry.WriteOptions) (api.Object, []string, error)
	Update(ctx context.Context, k *api.Kind, namespace, name string, obj api.Object, o registry.WriteOptions) (api.Object, []string, error)
	UpdateStatus(ctx context.Context, k *api.Kind, namespace, name string, obj api.Object, o registry.WriteOptions) (api.Object, error)
}

// Events tells users what became of a node. Record never blocks.
type Events interface {
	Record(about corev1.ObjectReference, eventType, reason, message string)
}

// Options of Nodes.
type Options struct {
	// ClusterRange is the IPv4 range that nodes get their pod ranges from;
	// 10.128.0.0/12 if it is the zero Prefix.
	ClusterRange netip.Prefix
	// NodeBits is the prefix length of a node's pod range; 24 if 0.
	NodeBits int
	// Events, unless nil, gets those of the nodes.
	Events Events
	Logger *slog.Logger
}

// Nodes registers nodes and remembers when their agents were heard of. Its
// methods are safe for concurrent use.
type Nodes struct {
	registry Registry
	cluster  netip.Prefix
	bits     int
	events   Events
	logger   *slog.Logger

	// allocating is held, as a token, from looking at the ranges in use until
	// the new one is written.
	allocating chan struct{}
	presence
}

// New returns Nodes over the registry. It fails for a cluster range that holds
// no range of a node.
func New(reg Registry, o Options) (*Nodes, error) {
	if !o.ClusterRange.IsValid() {
		o.ClusterRange = netip.MustParsePrefix("10.128.0.0/12")
	}
	if o.NodeBits == 0 {
		o.NodeBits = 24
	}
	if err := checkRanges(o.ClusterRange, o.NodeBits); err != nil {
		return nil, err
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return &Nodes{
		registry:   reg,
		cluster:    o.ClusterRange.Masked(),
		bits:       o.NodeBits,
		events:     o.Events,
		logger:     o.Logger,
		allocating: make(chan struct{}, 1),
		presence:   newPresence(),
	}, nil
}

// Register creates the Node that the agent of that id presents, or brings the
// stored one up to date with what the agent says anew; what users set (labels,
// taints, unschedulable) stays. It returns the node as it is stored, with its pod
// range. Errors are those of the registry.
func (n *Nodes) Register(ctx context.Context, id string, presented *corev1.Node) (*corev1.Node, error) {
	for {
		node, err := n.register(ctx, id, presented)
		// Someone else has written the node in between: look again.
		if apierrors.IsAlreadyExists(err) || apierrors.IsConflict(err) {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			continue
		}
		return node, err
	}
}

func (n *Nodes) register(ctx context.Context, id string, presented *corev1.Node) (*corev1.Node, error) {
	stored, err := n.get(ctx, presented.Name)
	switch {
	case apierrors.IsNotFound(err):
		stored, err = n.create(ctx, id, presented)
	case err == nil:
		stored, err = n.refresh(ctx, stored, id, presented)
	}
	if err != nil {
		return nil, err
	}
	return n.setStatus(ctx, stored, &presented.Status)
}

func (n *Nodes) create(ctx context.Context, id string, presented *corev1.Node) (*corev1.Node, error) {
	node := newNode(id, presented)
	return n.withRange(ctx, node, presented, func() (api.Object, error) {
		created, _, err := n.registry.Create(ctx, api.Nodes, node, registry.WriteOptions{})
		if err == nil {
			n.logger.Info("node registered", "node", node.Name, "id", id, "podCIDR", node.Spec.PodCIDR)
			n.tellRegistered(created)
		}
		return created, err
	})
}

// refresh brings labels, the agent's id and, where it is missing, the pod range up
// to date.
func (n *Nodes) refresh(ctx context.Context, stored *corev1.Node, id string, presented *corev1.Node) (*corev1.Node, error) {
	node := refreshed(stored, id, presented)
	update := func() (api.Object, error) {
		updated, _, err := n.registry.Update(ctx, api.Nodes, "", node.Name, node, registry.WriteOptions{})
		if former := stored.Annotations[idAnnotation]; err == nil && former != "" && former != node.Annotations[idAnnotation] {
			n.logger.Warn("a node's name has come to another agent: what the former one ran may run on there",
				"node", node.Name, "id", id, "former", former)
		}
		return updated, err
	}
	if node.Spec.PodCIDR == "" {
		return n.withRange(ctx, node, presented, update)
	}
	if apiequality.Semantic.DeepEqual(node, stored) {
		return stored, nil
	}
	return asNode(update())
}

// withRange gives node a free pod range, if possible the one that its pods have
// already, and writes it, before anyone else may look for one.
func (n *Nodes) withRange(ctx context.Context, node, presented *corev1.Node, write func() (api.Object, error)) (*corev1.Node, error) {
	select {
	case n.allocating <- struct{}{}:
		defer func() { <-n.allocating }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	list, err := n.registry.List(ctx, api.Nodes, "", registry.ListOptions{})
	if err != nil {
		return nil, err
	}
	if hasRange(list.Items, node.Name) {
		return nil, apierrors.NewConflict(api.Nodes.GroupResource(), node.Name, errors.New("it has got its pod range meanwhile"))
	}
	free, err := freeRange(n.cluster, n.bits, rangesOf(list.Items), presented.Spec.PodCIDR)
	if err != nil {
		return nil, apierrors.NewInternalError(fmt.Errorf("node %q: %w", node.Name, err))
	}
	node.Spec.PodCIDR, node.Spec.PodCIDRs = free.String(), []string{free.String()}
	return asNode(write())
}

// UpdateStatus stores what an agent reports of its node, unless that says
// nothing new.
func (n *Nodes) UpdateStatus(ctx context.Context, name string, status *corev1.NodeStatus) error {
	for {
		stored, err := n.get(ctx, name)
		if err != nil {
			return err
		}
		if _, err = n.setStatus(ctx, stored, status); !apierrors.IsConflict(err) {
			return err
		}
	}
}

func (n *Nodes) setStatus(ctx context.Context, stored *corev1.Node, reported *corev1.NodeStatus) (*corev1.Node, error) {
	merged := mergeStatus(&stored.Status, reported)
	if nodestatus.Equal(&stored.Status, merged) {
		return stored, nil
	}
	node := *stored
	node.Status = *merged
	updated, err := n.registry.UpdateStatus(ctx, api.Nodes, "", node.Name, &node, registry.WriteOptions{})
	if err != nil {
		return nil, err
	}
	return updated.(*corev1.Node), nil
}

func (n *Nodes) get(ctx context.Context, name string) (*corev1.Node, error) {
	return asNode(n.registry.Get(ctx, api.Nodes, "", name))
}

func asNode(obj api.Object, err error) (*corev1.Node, error) {
	if err != nil {
		return nil, err
	}
	return obj.(*corev1.Node), nil
}
