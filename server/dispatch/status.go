// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package dispatch

import (
	"context"
	"fmt"

	"google.golang.org/protobuf/proto"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	nodepb "github.com/berth-run/berth/proto/berth/node/v1"
	"github.com/berth-run/berth/server/registry"
)

// applyStatus stores what the node reports of a pod and, if nothing of the pod
// runs any more, lets its record go. final tells that a failure will not pass.
func (d *Dispatcher) applyStatus(ctx context.Context, node string, r *nodepb.PodStatusReport) (final bool, err error) {
	uid := types.UID(r.GetUid())
	if r.GetStatus() != nil {
		err := d.storeStatus(ctx, node, r)
		// The record of a pod that has ended may be gone already.
		if err != nil && !(r.GetTerminated() && isGone(err)) {
			return isFinal(err), err
		}
	}
	if !r.GetTerminated() {
		return true, nil
	}
	err = d.registry.FinishPodDeletion(ctx, node, r.GetNamespace(), r.GetName(), uid)
	if isGone(err) {
		err = nil
	}
	return isFinal(err), err
}

func (d *Dispatcher) storeStatus(ctx context.Context, node string, r *nodepb.PodStatusReport) error {
	encoded, err := proto.Marshal(r.GetStatus())
	if err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	report := registry.PodStatus{Namespace: r.GetNamespace(), Name: r.GetName(), UID: types.UID(r.GetUid())}
	if err := report.Status.Unmarshal(encoded); err != nil {
		return apierrors.NewBadRequest(fmt.Sprintf("status of pod %s/%s: %v", r.GetNamespace(), r.GetName(), err))
	}
	_, err = d.registry.ApplyPodStatus(ctx, node, report)
	return err
}

// updateNodeStatus stores what an agent reports of its node.
func (d *Dispatcher) updateNodeStatus(ctx context.Context, node string, r *nodepb.NodeStatusReport) error {
	encoded, err := proto.Marshal(r.GetStatus())
	if err != nil {
		return err
	}
	var status corev1.NodeStatus
	if err := status.Unmarshal(encoded); err != nil {
		return err
	}
	return d.nodes.UpdateStatus(ctx, node, &status)
}

// isGone: there is no pod of that name, or another one has its name.
func isGone(err error) bool { return apierrors.IsNotFound(err) || apierrors.IsConflict(err) }

// isFinal tells whether the same report would fail again.
func isFinal(err error) bool {
	return isGone(err) || apierrors.IsForbidden(err) || apierrors.IsInvalid(err) ||
		apierrors.IsBadRequest(err) || apierrors.IsRequestEntityTooLargeError(err)
}
