// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podworkers

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/berth-run/berth/agent/podtypes"
)

// Whatever comes in whatever order, and whatever fails: two steps of a UID never
// overlap, a pod that ends is not synced again in its run, pods of one name never
// live together, and once all are removed all of them finish.
func TestRandomUpdatesKeepThePromises(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		seed := rapid.Uint64().Draw(rt, "seed")
		var report string
		ok := t.Run("", func(t *testing.T) {
			bubble(t, func(t *testing.T, n *node) { report = randomLife(t, n, seed) })
		})
		if report != "" || !ok {
			rt.Fatalf("seed %d: %s", seed, report)
		}
	})
}

func randomLife(t *testing.T, n *node, seed uint64) string {
	random := rand.New(rand.NewPCG(seed, 0))
	unreliable(n.syncer, seed)
	for range 60 {
		i := random.IntN(6)
		uid := types.UID(fmt.Sprint("u", i))
		pod := newPod(nameOf(uid), uid)
		switch random.IntN(8) {
		case 0, 1:
			n.create(pod)
		case 2:
			n.update(pod)
		case 3:
			n.update(deleted(pod, random.Int64N(20)))
		case 4:
			n.remove(deleted(pod, random.Int64N(20)))
		case 5:
			n.UpdatePod(UpdatePodOptions{Type: podtypes.SyncKill, Pod: pod, Kill: KillPodOptions{Evict: true}})
		case 6:
			n.KillOrphan(&podtypes.RuntimePod{UID: pod.UID, Namespace: pod.Namespace, Name: pod.Name})
		case 7:
			n.Resync(pod.UID)
		}
		time.Sleep(time.Duration(random.IntN(3000)) * time.Millisecond)
	}
	for i := range 6 {
		uid := types.UID(fmt.Sprint("u", i))
		n.remove(deleted(newPod(nameOf(uid), uid), 1))
	}
	time.Sleep(time.Hour)
	synctest.Wait()
	if known := n.SyncKnownPods(nil); len(known) != 0 {
		return fmt.Sprintf("never finished: %v", known)
	}
	return broken(n.syncer.calls)
}

// nameOf gives each name to several UIDs.
func nameOf(uid types.UID) string { return fmt.Sprint("name", uid[1]%2) }

// unreliable makes steps take time and fail at random, and heed their contexts.
func unreliable(f *fakeSyncer, seed uint64) {
	step := func(ctx context.Context, uid types.UID) error {
		random := rand.New(rand.NewPCG(seed, uint64(len(f.steps(uid)))))
		if err := untilDone(ctx, time.Duration(random.IntN(4000))*time.Millisecond); err != nil {
			return err
		}
		if random.IntN(4) == 0 {
			return errors.New("transient")
		}
		return nil
	}
	f.syncPod = func(ctx context.Context, _ podtypes.SyncType, pod *corev1.Pod) (podtypes.SyncOutcome, error) {
		err := step(ctx, pod.UID)
		return podtypes.SyncOutcome{Terminal: len(f.steps(pod.UID))%7 == 0}, err
	}
	f.terminating = func(ctx context.Context, pod *corev1.Pod, _ int64) error { return step(ctx, pod.UID) }
	last := func(ctx context.Context, uid types.UID) error {
		err := step(ctx, uid)
		if err == nil {
			f.note(call{step: "gone", uid: uid})
		}
		return err
	}
	f.terminated = func(ctx context.Context, pod *corev1.Pod) error { return last(ctx, pod.UID) }
	f.terminatingRuntime = func(ctx context.Context, pod *podtypes.RuntimePod) error { return last(ctx, pod.UID) }
}

// broken returns what is wrong with the order of the calls. Nothing starts anew,
// because SyncKnownPods is called at the end alone.
func broken(calls []call) string {
	ending, alive := map[types.UID]bool{}, map[types.UID]bool{}
	for _, c := range calls {
		switch {
		case c.step == "gone":
			delete(alive, c.uid)
		case !strings.HasPrefix(c.step, "sync:"):
			ending[c.uid] = true
		case ending[c.uid]:
			return fmt.Sprintf("%s was synced after its end began", c.uid)
		default:
			alive[c.uid] = true
			for other := range alive {
				if other != c.uid && nameOf(other) == nameOf(c.uid) {
					return fmt.Sprintf("%s was synced while %s of its name lives", c.uid, other)
				}
			}
		}
	}
	return ""
}
