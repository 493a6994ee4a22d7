// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package events

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-run/berth/server/registry"
)

// sink tells the sweeper which events are stored.
type sink struct{ sweeper *sweeper }

func (k sink) Set(_ context.Context, e registry.WatchEvent) {
	k.sweeper.noted(e.Object.(*corev1.Event))
}

func (k sink) Remove(e registry.WatchEvent) {
	k.sweeper.mu.Lock()
	defer k.sweeper.mu.Unlock()
	k.sweeper.ledger.remove(e.Object.GetUID())
}

func (k sink) Retain(_ context.Context, uids map[types.UID]struct{}, _ string) {
	k.sweeper.mu.Lock()
	defer k.sweeper.mu.Unlock()
	k.sweeper.begun = true
	for uid := range k.sweeper.ledger.byUID {
		if _, exists := uids[uid]; !exists {
			k.sweeper.ledger.remove(uid)
		}
	}
}
