// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package pleg

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-run/berth/agent/podtypes"
	"github.com/berth-run/berth/internal/sleep"
)

var errStreamBroken = errors.New("stream broken")

// fakeRuntime holds pods with one sandbox each. Whether a change is followed by
// a hint is the test's matter.
type fakeRuntime struct {
	mu      sync.Mutex
	pods    map[types.UID]*podtypes.PodStatus
	hint    func(podtypes.Hint)
	broken  chan struct{}
	lists   int
	reads   int
	hung    map[types.UID]bool
	failing error
	// slow is how long a reading takes; it shows what was when it began.
	slow time.Duration
}

func newFakeRuntime() *fakeRuntime {
	return &fakeRuntime{pods: map[types.UID]*podtypes.PodStatus{}, hung: map[types.UID]bool{}, broken: make(chan struct{})}
}

func (f *fakeRuntime) ListPods(context.Context) ([]*podtypes.RuntimePod, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lists++
	if f.failing != nil {
		return nil, f.failing
	}
	var pods []*podtypes.RuntimePod
	for _, s := range f.pods {
		pods = append(pods, listingOf(s))
	}
	return pods, nil
}

func (f *fakeRuntime) PodStatus(ctx context.Context, uid types.UID) (*podtypes.PodStatus, error) {
	f.mu.Lock()
	f.reads++
	hung, err, slow := f.hung[uid], f.failing, f.slow
	status, ok := f.pods[uid]
	if ok {
		status = clone(status)
	}
	f.mu.Unlock()
	if err := sleep.For(ctx, slow); err != nil {
		return nil, err
	}
	switch {
	case hung:
		<-ctx.Done()
		return nil, ctx.Err()
	case err != nil:
		return nil, err
	case !ok:
		return nil, fmt.Errorf("pod %s: %w", uid, podtypes.ErrNotFound)
	}
	return status, nil
}

func clone(s *podtypes.PodStatus) *podtypes.PodStatus {
	c := *s
	c.Sandboxes, c.Containers = slices.Clone(s.Sandboxes), slices.Clone(s.Containers)
	return &c
}

func (f *fakeRuntime) WatchEvents(ctx context.Context, hint func(podtypes.Hint)) error {
	f.mu.Lock()
	f.hint = hint
	broken := f.broken
	f.mu.Unlock()
	defer func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.hint = nil
	}()
	select {
	case <-broken:
		return errStreamBroken
	case <-ctx.Done():
		return ctx.Err()
	}
}

// breakStream ends the subscription and every later one until mendStream.
func (f *fakeRuntime) breakStream() {
	f.mu.Lock()
	defer f.mu.Unlock()
	close(f.broken)
}

func (f *fakeRuntime) mendStream() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.broken = make(chan struct{})
}

// set puts a container into a state, in silence.
func (f *fakeRuntime) set(uid types.UID, container string, state podtypes.ContainerState) {
	f.mu.Lock()
	defer f.mu.Unlock()
	s, ok := f.pods[uid]
	if !ok {
		s = &podtypes.PodStatus{UID: uid, Sandboxes: []podtypes.SandboxStatus{{
			Sandbox: podtypes.Sandbox{ID: "sandbox-" + string(uid), Ready: true}, IPs: []string{"192.0.2.1"},
		}}}
		f.pods[uid] = s
	}
	for i := range s.Containers {
		if s.Containers[i].ID == container {
			s.Containers[i].State = state
			return
		}
	}
	s.Containers = append(s.Containers, podtypes.ContainerStatus{Container: podtypes.Container{ID: container, Name: container, State: state}})
}

func (f *fakeRuntime) remove(uid types.UID) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.pods, uid)
}

func (f *fakeRuntime) stopSandbox(uid types.UID) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.pods[uid].Sandboxes[0].Ready = false
}

// send sends a hint that says nothing but that something happened.
func (f *fakeRuntime) send(uid types.UID) {
	f.tell(podtypes.Hint{UID: uid, State: podtypes.ContainerUnknown})
}

func (f *fakeRuntime) tell(h podtypes.Hint) {
	f.mu.Lock()
	hint := f.hint
	f.mu.Unlock()
	if hint != nil {
		hint(h)
	}
}

func (f *fakeRuntime) setHung(uid types.UID, hung bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.hung[uid] = hung
}

func (f *fakeRuntime) setSlow(d time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.slow = d
}

func (f *fakeRuntime) fail(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.failing = err
}

// calls returns how often was listed and read since the last call.
func (f *fakeRuntime) calls() (lists, reads int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	lists, reads = f.lists, f.reads
	f.lists, f.reads = 0, 0
	return lists, reads
}

// collector takes events as the sync loop does.
type collector struct {
	mu     sync.Mutex
	events []podtypes.Event
}

func (c *collector) run(ctx context.Context, events <-chan podtypes.Event) {
	for {
		select {
		case e := <-events:
			c.mu.Lock()
			c.events = append(c.events, e)
			c.mu.Unlock()
		case <-ctx.Done():
			return
		}
	}
}

// take returns the events since the last call, as text.
func (c *collector) take() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []string
	for _, e := range c.events {
		out = append(out, fmt.Sprintf("%s %s %s", e.UID, e.Type, e.ContainerID))
	}
	c.events = nil
	return out
}

// bench is a running PLEG over a fake runtime in a bubble.
type bench struct {
	*PLEG
	runtime *fakeRuntime
	events  *collector
}

// inBubble runs f with a PLEG, and fails if the PLEG leaves a goroutine behind.
func inBubble(t *testing.T, options Options, f func(t *testing.T, b *bench)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		b := &bench{runtime: newFakeRuntime(), events: &collector{}}
		b.PLEG = New(b.runtime, options)
		var wg sync.WaitGroup
		wg.Go(func() { b.events.run(ctx, b.Events()) })
		wg.Go(func() {
			if err := b.Run(ctx); !errors.Is(err, context.Canceled) {
				t.Errorf("Run returned %v", err)
			}
		})
		defer wg.Wait()
		defer cancel()
		f(t, b)
	})
}

// settle passes so much time that the event stream counts as healthy.
func (b *bench) settle() {
	time.Sleep(1500 * time.Millisecond)
	synctest.Wait()
	b.events.take()
	b.runtime.calls()
}

func sorted(s []string) []string { return slices.Sorted(slices.Values(s)) }

func uids(pods []*podtypes.RuntimePod) []types.UID {
	set := map[types.UID]bool{}
	for _, p := range pods {
		set[p.UID] = true
	}
	return slices.Sorted(maps.Keys(set))
}
