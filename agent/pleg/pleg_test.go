// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package pleg

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-run/berth/agent/podtypes"
)

func TestTheFirstRelistTellsWhatRuns(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, b *bench) {
		b.runtime.set("p", "a", podtypes.ContainerRunning)
		b.runtime.set("p", "b", podtypes.ContainerExited)
		b.runtime.set("q", "c", podtypes.ContainerCreated)
		time.Sleep(2 * time.Second)
		synctest.Wait()
		want := []string{"p ContainerDied b", "p ContainerStarted a", "q ContainerChanged c"}
		if diff := cmp.Diff(want, sorted(b.events.take())); diff != "" {
			t.Error(diff)
		}
	})
}

func TestAHintIsReadAtOnce(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, b *bench) {
		b.settle()
		b.runtime.set("p", "a", podtypes.ContainerRunning)
		b.runtime.send("p")
		synctest.Wait()
		if diff := cmp.Diff([]string{"p ContainerStarted a"}, b.events.take()); diff != "" {
			t.Error(diff)
		}
		b.runtime.send("p") // doubled
		synctest.Wait()
		if got := b.events.take(); got != nil {
			t.Errorf("a doubled hint brings %v", got)
		}
	})
}

func TestRelistFindsWhatNoHintTold(t *testing.T) {
	for _, tc := range []struct {
		name   string
		change func(*fakeRuntime)
		want   []string
	}{
		{"exit", func(f *fakeRuntime) { f.set("p", "a", podtypes.ContainerExited) }, []string{"p ContainerDied a"}},
		{"new container", func(f *fakeRuntime) { f.set("p", "b", podtypes.ContainerRunning) }, []string{"p ContainerStarted b"}},
		{"sandbox", func(f *fakeRuntime) { f.stopSandbox("p") }, []string{"p PodSync "}},
		{"pod gone", func(f *fakeRuntime) { f.remove("p") }, []string{"p ContainerDied a", "p ContainerRemoved a", "p PodSync "}},
		{"unknown", func(f *fakeRuntime) { f.set("p", "a", podtypes.ContainerUnknown) }, []string{"p ContainerChanged a"}},
		{"nothing", func(*fakeRuntime) {}, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			inBubble(t, Options{}, func(t *testing.T, b *bench) {
				b.runtime.set("p", "a", podtypes.ContainerRunning)
				b.settle()
				tc.change(b.runtime)
				time.Sleep(10 * time.Second)
				synctest.Wait()
				if diff := cmp.Diff(tc.want, b.events.take()); diff != "" {
					t.Error(diff)
				}
			})
		})
	}
}

func TestAnIdleNodeIsListedAndNotRead(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, b *bench) {
		for i := range 20 {
			b.runtime.set(types.UID(fmt.Sprint("p", i)), fmt.Sprint("c", i), podtypes.ContainerRunning)
		}
		b.settle()
		time.Sleep(time.Minute)
		lists, reads := b.runtime.calls()
		if lists != 6 || reads != 0 {
			t.Errorf("%d lists and %d reads in a minute", lists, reads)
		}
	})
}

func TestRelistIsQuickWhileEventsAreDown(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, b *bench) {
		b.runtime.set("p", "a", podtypes.ContainerRunning)
		b.settle()
		b.runtime.breakStream()
		time.Sleep(time.Minute)
		b.runtime.set("p", "a", podtypes.ContainerExited)
		time.Sleep(time.Second)
		synctest.Wait()
		if diff := cmp.Diff([]string{"p ContainerDied a"}, b.events.take()); diff != "" {
			t.Error(diff)
		}
		b.runtime.mendStream()
		time.Sleep(10 * time.Second)
		b.runtime.calls()
		time.Sleep(time.Minute)
		if lists, _ := b.runtime.calls(); lists != 6 {
			t.Errorf("%d lists in the minute after events came back", lists)
		}
	})
}

func TestRelistFollowsASubscription(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, b *bench) {
		b.runtime.set("p", "a", podtypes.ContainerRunning)
		b.settle()
		b.runtime.breakStream()
		synctest.Wait()
		b.runtime.mendStream()
		b.runtime.calls()
		time.Sleep(firstRetry)
		synctest.Wait()
		if lists, _ := b.runtime.calls(); lists == 0 {
			t.Error("no listing after the stream came back")
		}
	})
}

func TestB063LossyEventsAreRepairedWithinARelistPeriod(t *testing.T) {
	for seed := range uint64(20) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			inBubble(t, Options{}, func(t *testing.T, b *bench) {
				random := rand.New(rand.NewPCG(seed, 0))
				b.settle()
				var late []types.UID
				lossy := func(uid types.UID) {
					if random.Float64() < 0.2 {
						return
					}
					late = append(late, uid)
					if random.Float64() < 0.2 {
						late = append(late, uid)
					}
					random.Shuffle(len(late), func(i, j int) { late[i], late[j] = late[j], late[i] })
					for len(late) > 5 {
						b.runtime.send(late[0])
						late = late[1:]
					}
				}
				var uids []types.UID
				for i := range 50 {
					uids = append(uids, types.UID(fmt.Sprint("p", i)))
				}
				for _, state := range []podtypes.ContainerState{podtypes.ContainerCreated, podtypes.ContainerRunning, podtypes.ContainerExited} {
					for _, uid := range uids {
						b.runtime.set(uid, "c-"+string(uid), state)
						lossy(uid)
					}
				}
				time.Sleep(10 * time.Second)
				synctest.Wait()

				died := map[string]int{}
				for _, e := range b.events.take() {
					died[e]++
				}
				for _, uid := range uids {
					if died[fmt.Sprintf("%s ContainerDied c-%s", uid, uid)] != 1 {
						t.Errorf("pod %s died %d times", uid, died[fmt.Sprintf("%s ContainerDied c-%s", uid, uid)])
					}
				}
				for _, pod := range b.Pods() {
					if pod.Containers[0].State != podtypes.ContainerExited {
						t.Errorf("pod %s is held to be %s", pod.UID, pod.Containers[0].State)
					}
				}
			})
		})
	}
}

func TestB062AHungReadHoldsUpNoOtherPod(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, b *bench) {
		for _, uid := range []types.UID{"x", "y"} {
			b.runtime.set(uid, "c-"+string(uid), podtypes.ContainerRunning)
		}
		b.settle()
		b.runtime.setHung("x", true)
		began := time.Now()
		for _, uid := range []types.UID{"x", "y"} {
			b.runtime.set(uid, "c-"+string(uid), podtypes.ContainerExited)
			b.runtime.send(uid)
		}
		synctest.Wait()
		if diff := cmp.Diff([]string{"y ContainerDied c-y"}, b.events.take()); diff != "" {
			t.Error(diff)
		}
		if _, err := b.GetNewerThan(t.Context(), "y", began.Add(-1)); err != nil {
			t.Errorf("y: %v", err)
		}
		if _, err := b.GetNewerThan(t.Context(), "x", began); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("x: %v", err)
		}
		if d := time.Since(began); d > 40*time.Second {
			t.Errorf("x was told after %s", d)
		}
		if err := b.Healthy(); err != nil {
			t.Errorf("the node is marked: %v", err)
		}

		b.runtime.setHung("x", false)
		time.Sleep(40 * time.Second)
		synctest.Wait()
		if diff := cmp.Diff([]string{"x ContainerDied c-x"}, b.events.take()); diff != "" {
			t.Error(diff)
		}
		if s, err := b.GetNewerThan(t.Context(), "x", began); err != nil || s.Containers[0].State != podtypes.ContainerExited {
			t.Errorf("x: %v", err)
		}
	})
}

func TestASlowLoopHoldsUpNoReading(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		runtime := newFakeRuntime()
		p := New(runtime, Options{})
		done := make(chan error)
		go func() { done <- p.Run(ctx) }()
		time.Sleep(2 * time.Second)
		began := time.Now()
		for i := range 500 {
			uid := types.UID(fmt.Sprint("p", i))
			runtime.set(uid, "c", podtypes.ContainerRunning)
			runtime.send(uid)
		}
		if _, err := p.GetNewerThan(ctx, "p499", began.Add(-1)); err != nil {
			t.Error(err)
		}
		for range 500 {
			<-p.Events()
		}
		cancel()
		<-done
	})
}

func TestHealthy(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, b *bench) {
		b.runtime.fail(errors.New("no such socket"))
		synctest.Wait()
		b.settle()
		b.runtime.fail(nil)
		time.Sleep(time.Second)
		synctest.Wait()
		if err := b.Healthy(); err != nil {
			t.Errorf("after a listing: %v", err)
		}
		failure := errors.New("no such socket")
		b.runtime.fail(failure)
		time.Sleep(2 * time.Minute)
		if err := b.Healthy(); err != nil {
			t.Errorf("within the threshold: %v", err)
		}
		time.Sleep(90 * time.Second)
		if err := b.Healthy(); !errors.Is(err, failure) {
			t.Errorf("after the threshold: %v", err)
		}
	})
}

func TestNotHealthyBeforeTheFirstListing(t *testing.T) {
	if err := New(newFakeRuntime(), Options{}).Healthy(); err == nil {
		t.Error("healthy")
	}
}
