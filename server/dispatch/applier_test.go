// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package dispatch

import (
	"context"
	"testing"
	"testing/synctest"

	nodepb "github.com/berth-run/berth/proto/berth/node/v1"
)

// An agent may say once more that a pod has ended which is gone already.
func TestReportsOfPodsThatAreGoneAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		applied := 0
		a := newApplier(func(context.Context, *nodepb.PodStatusReport) (bool, error) {
			applied++
			return true, nil
		}, func(*nodepb.StatusAck) {})
		a.submit(t.Context(), &nodepb.PodStatusReport{Uid: "u", Version: 1})
		synctest.Wait()
		if len(a.pods) != 1 {
			t.Error("nothing is known of a pod that lives")
		}
		a.forget("u")
		a.submit(t.Context(), &nodepb.PodStatusReport{Uid: "u", Version: 2, Terminated: true})
		synctest.Wait()
		if len(a.pods) != 0 || applied != 2 {
			t.Errorf("%d pods are kept after %d reports", len(a.pods), applied)
		}
	})
}
