// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package nodes

import (
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-run/berth/api"
	"github.com/berth-run/berth/server/registry"
)

func TestLeasesShowHeartbeats(t *testing.T) {
	reg := newRegistry(t)
	n := newNodes(t, reg, Options{})
	leases := n.WithLeases(reg)
	ctx := t.Context()
	if err := reg.EnsureDefaults(ctx); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"n1", "silent"} {
		if _, err := n.Register(ctx, "id-"+name, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}); err != nil {
			t.Fatal(err)
		}
	}
	before := time.Now().Truncate(time.Microsecond)
	n.Heartbeat("n1")

	obj, err := leases.Get(ctx, api.Leases, corev1.NamespaceNodeLease, "n1")
	if err != nil {
		t.Fatal(err)
	}
	lease := obj.(*coordinationv1.Lease)
	if *lease.Spec.HolderIdentity != "n1" || lease.Spec.RenewTime.Time.Before(before) {
		t.Errorf("lease %+v", lease.Spec)
	}
	encoded, err := leases.GetEncoded(ctx, api.Leases, corev1.NamespaceNodeLease, "n1")
	if err != nil || (&coordinationv1.Lease{}).Unmarshal(encoded) != nil {
		t.Errorf("encoded: %v", err)
	}
	list, err := leases.List(ctx, api.Leases, corev1.NamespaceNodeLease, registry.ListOptions{})
	if err != nil || len(list.Items) != 1 {
		t.Errorf("%v, %d leases", err, len(list.Items))
	}
	for _, name := range []string{"silent", "none"} {
		if _, err := leases.Get(ctx, api.Leases, corev1.NamespaceNodeLease, name); !apierrors.IsNotFound(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
	mine := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: "n1"}}
	if _, _, err := leases.Create(ctx, api.Leases, mine, registry.WriteOptions{Namespace: corev1.NamespaceNodeLease}); !apierrors.IsForbidden(err) {
		t.Errorf("created: %v", err)
	}
	apply := registry.Patch{Type: types.ApplyPatchType, Data: []byte(`{"apiVersion":"coordination.k8s.io/v1","kind":"Lease"}`)}
	_, err = leases.Patch(ctx, api.Leases, corev1.NamespaceNodeLease, "n1", apply, registry.WriteOptions{Manager: "m"})
	if !apierrors.IsForbidden(err) {
		t.Errorf("applied: %v", err)
	}
	if _, _, err := leases.Create(ctx, api.Leases, mine, registry.WriteOptions{}); err != nil {
		t.Errorf("a stored lease: %v", err)
	}
}
