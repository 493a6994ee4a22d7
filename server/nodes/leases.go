// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package nodes

import (
	"context"
	"errors"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/berth-run/berth/api"
	"github.com/berth-run/berth/server/registry"
)

// heartbeatLease is how long a node's word is good for, in seconds, as its Lease
// says.
const heartbeatLease = 40

// Leases is a registry in whose namespace kube-node-lease stand the heartbeats of
// the nodes. They are shown, not stored: a heartbeat costs no write. They cannot be
// written or watched.
type Leases struct {
	*registry.Registry
	nodes *Nodes
}

// WithLeases returns reg with the Leases of the nodes in it.
func (n *Nodes) WithLeases(reg *registry.Registry) *Leases { return &Leases{reg, n} }

func isHeartbeat(k *api.Kind, namespace string) bool {
	return k == api.Leases && namespace == corev1.NamespaceNodeLease
}

// Get returns one object.
func (l *Leases) Get(ctx context.Context, k *api.Kind, namespace, name string) (api.Object, error) {
	if !isHeartbeat(k, namespace) {
		return l.Registry.Get(ctx, k, namespace, name)
	}
	return l.lease(ctx, name)
}

// GetEncoded returns one object in its Kubernetes protobuf encoding.
func (l *Leases) GetEncoded(ctx context.Context, k *api.Kind, namespace, name string) ([]byte, error) {
	if !isHeartbeat(k, namespace) {
		return l.Registry.GetEncoded(ctx, k, namespace, name)
	}
	lease, err := l.lease(ctx, name)
	if err != nil {
		return nil, err
	}
	return lease.Marshal()
}

// List returns the objects of a kind.
func (l *Leases) List(ctx context.Context, k *api.Kind, namespace string, o registry.ListOptions) (registry.List, error) {
	if !isHeartbeat(k, namespace) {
		return l.Registry.List(ctx, k, namespace, o)
	}
	selector, err := api.ParseSelector(k, o.LabelSelector, o.FieldSelector)
	if err != nil {
		return registry.List{}, err
	}
	nodes, err := l.Registry.List(ctx, api.Nodes, "", registry.ListOptions{})
	if err != nil {
		return registry.List{}, err
	}
	out := registry.List{Meta: metav1.ListMeta{ResourceVersion: nodes.Meta.ResourceVersion}}
	for _, node := range nodes.Items {
		lease, ok := l.nodes.lease(node.(*corev1.Node))
		if ok && selector.Matches(lease) {
			out.Items = append(out.Items, lease)
		}
	}
	return out, nil
}

func (l *Leases) lease(ctx context.Context, name string) (*coordinationv1.Lease, error) {
	notFound := apierrors.NewNotFound(api.Leases.GroupResource(), name)
	obj, err := l.Registry.Get(ctx, api.Nodes, "", name)
	if apierrors.IsNotFound(err) {
		return nil, notFound
	}
	if err != nil {
		return nil, err
	}
	if lease, ok := l.nodes.lease(obj.(*corev1.Node)); ok {
		return lease, nil
	}
	return nil, notFound
}

// lease shows when a node was last heard of; false means not since this server
// started.
func (n *Nodes) lease(node *corev1.Node) (*coordinationv1.Lease, bool) {
	seen, ok := n.LastSeen(node.Name)
	if !ok {
		return nil, false
	}
	return &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{
			Namespace:         corev1.NamespaceNodeLease,
			Name:              node.Name,
			UID:               types.UID("lease-" + string(node.UID)),
			ResourceVersion:   node.ResourceVersion,
			CreationTimestamp: node.CreationTimestamp,
			OwnerReferences:   []metav1.OwnerReference{{APIVersion: "v1", Kind: api.Nodes.Name, Name: node.Name, UID: node.UID}},
		},
		Spec: coordinationv1.LeaseSpec{
			HolderIdentity:       ptr.To(node.Name),
			LeaseDurationSeconds: ptr.To[int32](heartbeatLease),
			RenewTime:            ptr.To(metav1.NewMicroTime(seen.Truncate(time.Microsecond))),
		},
	}, true
}

// Create stores a new object.
func (l *Leases) Create(ctx context.Context, k *api.Kind, obj api.Object, o registry.WriteOptions) (api.Object, []string, error) {
	if isHeartbeat(k, obj.GetNamespace()) || obj.GetNamespace() == "" && isHeartbeat(k, o.Namespace) {
		return nil, nil, notWritten(k, obj.GetName())
	}
	return l.Registry.Create(ctx, k, obj, o)
}

// Patch changes parts of an object. An apply could make a Lease.
func (l *Leases) Patch(ctx context.Context, k *api.Kind, namespace, name string, p registry.Patch, o registry.WriteOptions) (registry.Patched, error) {
	if isHeartbeat(k, namespace) {
		return registry.Patched{}, notWritten(k, name)
	}
	return l.Registry.Patch(ctx, k, namespace, name, p, o)
}

func notWritten(k *api.Kind, name string) error {
	return apierrors.NewForbidden(k.GroupResource(), name,
		errors.New("the Leases of this namespace show the heartbeats of the nodes and cannot be written"))
}
