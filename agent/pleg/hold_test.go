// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package pleg

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-run/berth/agent/podtypes"
)

func TestAHeldPodIsReadOnceAfterwards(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, b *bench) {
		b.settle()
		release := b.Hold("p")
		for _, state := range []podtypes.ContainerState{podtypes.ContainerCreated, podtypes.ContainerRunning} {
			b.runtime.set("p", "a", state)
			b.runtime.tell(podtypes.Hint{UID: "p", ID: "a", State: state})
			time.Sleep(time.Minute) // and what listings find waits too
		}
		synctest.Wait()
		if _, reads := b.runtime.calls(); reads != 0 {
			t.Errorf("%d readings of a held pod", reads)
		}
		acted := time.Now()
		release()
		b.mustGet(t, "p", acted)
		// What the runtime tells late is known.
		b.runtime.tell(podtypes.Hint{UID: "p", ID: "a", State: podtypes.ContainerRunning})
		synctest.Wait()
		if _, reads := b.runtime.calls(); reads != 1 {
			t.Errorf("%d readings", reads)
		}
		if diff := cmp.Diff([]string{"p ContainerStarted a"}, b.events.take()); diff != "" {
			t.Error(diff)
		}
	})
}

func TestAReleasedPodOfWhichNobodyAskedIsNotRead(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, b *bench) {
		b.runtime.set("p", "a", podtypes.ContainerRunning)
		b.settle()
		b.Hold("p")()
		synctest.Wait()
		if _, reads := b.runtime.calls(); reads != 0 {
			t.Errorf("%d readings", reads)
		}
	})
}

func TestAHeldPodHoldsUpNoOther(t *testing.T) {
	inBubble(t, Options{Readers: 1}, func(t *testing.T, b *bench) {
		b.settle()
		b.runtime.set("p", "a", podtypes.ContainerRunning)
		b.runtime.set("q", "b", podtypes.ContainerRunning)
		defer b.Hold("p")()
		b.runtime.send("p")
		b.runtime.send("q")
		synctest.Wait()
		if diff := cmp.Diff([]string{"q ContainerStarted b"}, b.events.take()); diff != "" {
			t.Error(diff)
		}
	})
}

// Who needs a reading at the same time shares one, also one that is under way.
func TestReadingsAreShared(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, b *bench) {
		b.runtime.set("p", "a", podtypes.ContainerRunning)
		b.settle()
		b.runtime.setSlow(time.Second)
		min := time.Now()
		var readers sync.WaitGroup
		for i := range 10 {
			readers.Go(func() {
				time.Sleep(time.Duration(i) * 50 * time.Millisecond)
				b.mustGet(t, "p", min)
			})
		}
		readers.Wait()
		if _, reads := b.runtime.calls(); reads != 1 {
			t.Errorf("%d readings", reads)
		}
	})
}

// One that began before is not new enough.
func TestAReadingThatBeganTooEarlyIsNotShared(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, b *bench) {
		b.runtime.set("p", "a", podtypes.ContainerRunning)
		b.settle()
		b.runtime.setSlow(time.Second)
		b.Request("p")
		time.Sleep(500 * time.Millisecond)
		b.runtime.set("p", "a", podtypes.ContainerExited)
		if s := b.mustGet(t, "p", time.Now()); s.Containers[0].State != podtypes.ContainerExited {
			t.Errorf("state %s is of before", s.Containers[0].State)
		}
	})
}
