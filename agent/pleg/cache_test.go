// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package pleg

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-run/berth/agent/podtypes"
)

func TestGetNewerThanZeroWaitsForTheFirstListingOnly(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, b *bench) {
		b.runtime.fail(errors.New("not there yet"))
		go func() {
			time.Sleep(3 * time.Second)
			b.runtime.set("p", "a", podtypes.ContainerRunning)
			b.runtime.fail(nil)
		}()
		time.Sleep(time.Second)
		synctest.Wait()
		s := b.mustGet(t, "p", time.Time{})
		if len(s.Containers) != 1 {
			t.Errorf("a pod that runs since before is unknown: %+v", s)
		}
	})
}

func TestGetNewerThanOfANewPodCostsNoCall(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, b *bench) {
		b.settle()
		began := time.Now()
		s := b.mustGet(t, "new", time.Time{})
		if s.UID != "new" || len(s.Sandboxes)+len(s.Containers) != 0 {
			t.Errorf("status %+v", s)
		}
		if lists, reads := b.runtime.calls(); lists+reads != 0 || time.Since(began) != 0 {
			t.Errorf("%d lists, %d reads, %s", lists, reads, time.Since(began))
		}
	})
}

func TestGetNewerThanReadsAtOnce(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, b *bench) {
		b.runtime.set("p", "a", podtypes.ContainerRunning)
		b.settle()
		b.runtime.set("p", "a", podtypes.ContainerExited) // no hint
		began := time.Now()
		s := b.mustGet(t, "p", began)
		if s.Containers[0].State != podtypes.ContainerExited {
			t.Errorf("state %s is of before", s.Containers[0].State)
		}
		if d := time.Since(began); d > time.Millisecond {
			t.Errorf("took %s", d)
		}
		synctest.Wait()
		if diff := cmp.Diff([]string{"p ContainerDied a"}, b.events.take()); diff != "" {
			t.Error(diff)
		}
	})
}

// What a listing confirmed need not be read.
func TestGetNewerThanTrustsAListingThatShowsNoChange(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, b *bench) {
		b.runtime.set("p", "a", podtypes.ContainerRunning)
		b.settle()
		min := time.Now()
		time.Sleep(11 * time.Second)
		b.mustGet(t, "p", min)
		if _, reads := b.runtime.calls(); reads != 0 {
			t.Errorf("%d reads", reads)
		}
	})
}

func TestGetNewerThanDoesNotTrustAListingThatShowsAChange(t *testing.T) {
	c := newCache()
	was := &podtypes.PodStatus{UID: "p", Containers: []podtypes.ContainerStatus{{Container: podtypes.Container{ID: "a", State: podtypes.ContainerRunning}}}}
	start := time.Now()
	after := start.Add(1)
	c.set("p", was, start)
	now := listingOf(was)
	now.Containers = []podtypes.Container{{ID: "a", State: podtypes.ContainerExited}}
	if read := c.compare([]*podtypes.RuntimePod{now}, start.Add(time.Second)); len(read) != 1 {
		t.Fatalf("to be read: %v", read)
	}
	if _, ok, _ := c.newerThan("p", after); ok {
		t.Error("the listing's time is given to a record that it contradicts")
	}
	// A reading that began before the listing does not make up for it.
	c.set("p", was, start)
	if _, ok, _ := c.newerThan("p", after); ok {
		t.Error("the listing's time is given to a reading of before it")
	}
	c.set("p", was, time.Now().Add(time.Second))
	if _, ok, _ := c.newerThan("p", after); !ok {
		t.Error("a reading of after the change is not returned")
	}
}

func TestGetNewerThanEndsWithItsContext(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, b *bench) {
		b.settle()
		b.runtime.setHung("p", true)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := b.GetNewerThan(ctx, "p", time.Now()); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v", err)
		}
	})
}

func TestGetNewerThanReturnsTheReadingsError(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, b *bench) {
		b.runtime.set("p", "a", podtypes.ContainerRunning)
		b.settle()
		failure := errors.New("broken")
		b.runtime.fail(failure)
		s, err := b.GetNewerThan(t.Context(), "p", time.Now())
		if !errors.Is(err, failure) || s == nil {
			t.Errorf("status %v, error %v", s, err)
		}
		b.runtime.fail(nil)
		time.Sleep(time.Nanosecond)
		b.mustGet(t, "p", time.Now())
	})
}

func TestPodsFollowsReadingsAndListings(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, b *bench) {
		b.runtime.set("p", "a", podtypes.ContainerRunning)
		b.runtime.set("q", "b", podtypes.ContainerRunning)
		b.settle()
		b.runtime.set("r", "c", podtypes.ContainerRunning)
		b.runtime.send("r")
		b.runtime.remove("p")
		b.runtime.send("p")
		synctest.Wait()
		if diff := cmp.Diff([]types.UID{"q", "r"}, uids(b.Pods())); diff != "" {
			t.Error(diff)
		}
		b.runtime.remove("q")
		time.Sleep(30 * time.Second)
		if diff := cmp.Diff([]types.UID{"r"}, uids(b.Pods())); diff != "" {
			t.Error(diff)
		}
		b.cache.mu.Lock()
		defer b.cache.mu.Unlock()
		if n := len(b.cache.records); n != 1 {
			t.Errorf("%d records for one pod", n)
		}
	})
}

func (b *bench) mustGet(t *testing.T, uid types.UID, min time.Time) *podtypes.PodStatus {
	t.Helper()
	s, err := b.GetNewerThan(t.Context(), uid, min)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestB093ALostAddressIsAReasonToSync: the runtime calls the sandbox ready still.
func TestB093ALostAddressIsAReasonToSync(t *testing.T) {
	reading := func(ips ...string) *podtypes.PodStatus {
		return &podtypes.PodStatus{UID: "p", Sandboxes: []podtypes.SandboxStatus{{Sandbox: podtypes.Sandbox{ID: "s", Ready: true}, IPs: ips}}}
	}
	want := []podtypes.Event{{UID: "p", Type: podtypes.PodSync}}
	if diff := cmp.Diff(want, compare("p", reading("192.0.2.1"), reading())); diff != "" {
		t.Error(diff)
	}
	if got := compare("p", reading("192.0.2.1"), reading("192.0.2.1")); got != nil {
		t.Errorf("nothing changed: %v", got)
	}
}

func TestPodTellsAsOfWhenItIsKnown(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, b *bench) {
		if pod, at, _ := New(newFakeRuntime(), Options{}).Pod("p"); pod != nil || !at.IsZero() {
			t.Errorf("before the first listing: %+v as of %s", pod, at)
		}
		b.runtime.set("p", "a", podtypes.ContainerRunning)
		b.settle()
		began := time.Now()
		_, at, changed := b.Pod("p")
		if at.After(began) {
			t.Errorf("known as of %s, in the future", at)
		}
		defer b.Hold("p")() // listings show it all the same
		b.runtime.set("p", "a", podtypes.ContainerExited)
		<-changed
		synctest.Wait()
		pod, at, _ := b.Pod("p")
		if pod == nil || pod.Containers[0].State != podtypes.ContainerExited || at.Before(began) {
			t.Errorf("%+v as of %s", pod, at)
		}
		b.runtime.remove("p")
		time.Sleep(20 * time.Second)
		if pod, _, _ := b.Pod("p"); pod != nil {
			t.Errorf("gone: %+v", pod)
		}
	})
}
