// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package gc

import (
	"reflect"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-run/berth/api"
)

func TestJudge(t *testing.T) {
	dependents := []*object{named("d")}
	for name, tc := range map[string]struct {
		owners     ownership
		dependents []*object
		want       verdict
	}{
		"no owners":         {ownership{}, nil, verdict{}},
		"kept":              {ownership{solid: 2}, dependents, verdict{}},
		"kept by one":       {ownership{solid: 1, absent: []types.UID{"a"}, waiting: []types.UID{"w"}}, nil, verdict{drop: []types.UID{"a", "w"}}},
		"garbage":           {ownership{absent: []types.UID{"a", "b"}}, nil, verdict{remove: true}},
		"garbage that owns": {ownership{absent: []types.UID{"a"}}, dependents, verdict{remove: true}},
		"awaited":           {ownership{waiting: []types.UID{"w"}}, nil, verdict{remove: true}},
		"awaited, and owns": {ownership{waiting: []types.UID{"w"}}, dependents, verdict{remove: true, policy: metav1.DeletePropagationForeground}},
		"awaited by what waits for it": {ownership{waiting: []types.UID{"w"}, absent: []types.UID{"a"}}, []*object{named("w", inForeground)},
			verdict{remove: true, policy: metav1.DeletePropagationForeground, unblock: true}},
	} {
		if got := judge(tc.owners, tc.dependents); !reflect.DeepEqual(got, tc.want) {
			t.Errorf("%s: %+v, want %+v", name, got, tc.want)
		}
	}
}

func TestStateOfAnOwner(t *testing.T) {
	live := func(uid types.UID, finalizer string, deleting bool) api.Object {
		obj := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{UID: uid, Finalizers: []string{finalizer}}}
		if deleting {
			obj.DeletionTimestamp = &metav1.Time{}
		}
		return obj
	}
	for name, tc := range map[string]struct {
		live api.Object
		want ownerState
	}{
		"nothing":           {nil, absent},
		"another":           {live("x", "", false), absent},
		"there":             {live("o", "", false), solid},
		"finalizer alone":   {live("o", "foregroundDeletion", false), solid},
		"held by others":    {live("o", "a/b", true), solid},
		"in the foreground": {live("o", "foregroundDeletion", true), waiting},
	} {
		if got := stateOf(ref("o"), tc.live); got != tc.want {
			t.Errorf("%s: %d, want %d", name, got, tc.want)
		}
	}
}
