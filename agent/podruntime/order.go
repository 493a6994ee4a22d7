// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podruntime

import (
	"context"
	"errors"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-run/berth/api"
)

// stopOrder is in which order containers of one pod are stopped.
type stopOrder struct {
	// turns come one after the other: the containers of each have ended before those of
	// the next are stopped.
	turns [][]containerToKill
	// aside are stopped at once, and nobody waits for them.
	aside []containerToKill
}

// terminationOrder has the sidecars stopped after all that may need them, the last
// that was started first. A container that does not run is waited for by none. pod is
// nil for an orphan, of which nobody knows which is which.
func terminationOrder(pod *corev1.Pod, kill []containerToKill) stopOrder {
	if pod == nil {
		return stopOrder{aside: kill}
	}
	var o stopOrder
	var others []containerToKill
	sidecars := map[string][]containerToKill{}
	for _, k := range kill {
		switch c := api.Container(pod, k.Name); {
		case ephemeral(pod, k.Name) != nil:
			o.aside = append(o.aside, k)
		case c != nil && isInit(pod, k.Name) && api.IsSidecar(c):
			sidecars[k.Name] = append(sidecars[k.Name], k)
		default:
			others = append(others, k)
		}
	}
	o.add(others)
	for i := len(pod.Spec.InitContainers) - 1; i >= 0; i-- {
		o.add(sidecars[pod.Spec.InitContainers[i].Name])
	}
	return o
}

func (o *stopOrder) add(turn []containerToKill) {
	if len(turn) > 0 {
		o.turns = append(o.turns, turn)
	}
}

func isInit(pod *corev1.Pod, name string) bool {
	for i := range pod.Spec.InitContainers {
		if pod.Spec.InitContainers[i].Name == name {
			return true
		}
	}
	return false
}

// inOrder stops the containers. All of their preStop hooks run at once; a container
// whose turn does not come within its grace is stopped nevertheless.
func (p *podStop) inOrder(ctx context.Context, o stopOrder) error {
	var stops sync.WaitGroup
	errs := make([]error, len(o.turns)+1)
	stops.Go(func() { errs[len(o.turns)] = p.containers(ctx, o.aside, nil) })
	var before chan struct{}
	for i, turn := range o.turns {
		mine, ended := before, make(chan struct{})
		stops.Go(func() {
			defer close(ended)
			errs[i] = p.containers(ctx, turn, mine)
			if mine != nil {
				<-mine // who is next waits for all before it
			}
		})
		before = ended
	}
	stops.Wait()
	return errors.Join(errs...)
}

// await returns when the container's turn has come, at the deadline, or with the
// context. Without a turn it does not wait.
func await(ctx context.Context, turn <-chan struct{}, deadline time.Time) {
	if turn == nil {
		return
	}
	timer := time.NewTimer(time.Until(deadline))
	defer timer.Stop()
	select {
	case <-turn:
	case <-timer.C:
	case <-ctx.Done():
	}
}
