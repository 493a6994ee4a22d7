// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podworkers

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"
)

// The queue against a plain map.
func TestWorkQueueKeepsOneTimePerPod(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q, model := newWorkQueue(), map[types.UID]time.Time{}
		start := time.Now()
		uids := rapid.Map(rapid.IntRange(0, 5), func(i int) types.UID { return types.UID(fmt.Sprint(i)) })
		times := rapid.Map(rapid.IntRange(0, 20), func(i int) time.Time { return start.Add(time.Duration(i) * time.Second) })
		t.Repeat(map[string]func(*rapid.T){
			"set": func(t *rapid.T) {
				uid, at := uids.Draw(t, "uid"), times.Draw(t, "at")
				q.set(uid, at)
				model[uid] = at
			},
			"sooner": func(t *rapid.T) {
				uid, at := uids.Draw(t, "uid"), times.Draw(t, "at")
				q.sooner(uid, at)
				if old, ok := model[uid]; !ok || at.Before(old) {
					model[uid] = at
				}
			},
			"forget": func(t *rapid.T) {
				uid := uids.Draw(t, "uid")
				q.forget(uid)
				delete(model, uid)
			},
			"due": func(t *rapid.T) {
				now := times.Draw(t, "now")
				got := q.due(now)
				var want []types.UID
				for uid, at := range model {
					if !at.After(now) {
						want = append(want, uid)
						delete(model, uid)
					}
				}
				slices.Sort(got)
				slices.Sort(want)
				if !slices.Equal(got, want) {
					t.Fatalf("due %v, want %v", got, want)
				}
			},
			"": func(t *rapid.T) {
				var first time.Time
				for _, at := range model {
					if first.IsZero() || at.Before(first) {
						first = at
					}
				}
				if got, ok := q.next(); ok != (len(model) > 0) || !got.Equal(first) {
					t.Fatalf("next %v %v, want %v", got, ok, first)
				}
			},
		})
	})
}
