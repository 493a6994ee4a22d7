// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package dispatch

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/protobuf/proto"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-run/berth/api"
	nodepb "github.com/berth-run/berth/proto/berth/node/v1"
	"github.com/berth-run/berth/server/registry"
)

// While an agent does not read, a pod that comes and goes costs nothing, and one
// that changes a hundred times is sent once.
func TestSlowAgentGetsTheNewest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		agent, _ := w.connect("n1")
		// More than what gRPC takes in before it waits for the reader.
		filler := strings.Repeat("x", 200<<10)
		for i := range 5 {
			pod := newPod(fmt.Sprintf("large%d", i), "n1")
			pod.Annotations = map[string]string{"filler": filler}
			w.createPod(pod)
			synctest.Wait()
		}
		w.createPod(newPod("p", "n1"))
		for i := range 100 {
			pod := w.pod("p").DeepCopy()
			pod.Labels = map[string]string{"i": fmt.Sprint(i)}
			if _, _, err := w.registry.Update(t.Context(), api.Pods, "default", "p", pod, registry.WriteOptions{}); err != nil {
				t.Fatal(err)
			}
			w.createPod(newPod("brief", "n1"))
			w.deletePod("brief", 0)
		}
		synctest.Wait()
		got := agent.until("ADD p")
		equal(t, got, "ADD large0", "ADD large1", "ADD large2", "ADD large3", "ADD large4", "ADD p")
		agent.quiet()
	})
}

func TestMessagesAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		const pods = 1000
		for i := range pods {
			pod := newPod(fmt.Sprintf("p%04d", i), "n1")
			pod.Annotations = map[string]string{"filler": strings.Repeat("x", 3000)}
			w.createPod(pod)
		}
		large := newPod("large", "n1")
		large.Annotations = map[string]string{"filler": strings.Repeat("x", 250<<10)}
		w.createPod(large)

		agent := w.open("n1", "")
		agent.send(&nodepb.AgentMessage{Message: &nodepb.AgentMessage_Inventory{Inventory: &nodepb.Inventory{Done: true}}})
		messages, got := 0, 0
		for {
			m := agent.recv()
			if m.GetSynced() != nil {
				break
			}
			if size := proto.Size(m); size > maxMessage+maxMessage/10 {
				t.Errorf("a message of %d bytes", size)
			}
			messages++
			got += len(m.GetPodUpdate().GetPods())
		}
		if got != pods+1 {
			t.Errorf("%d pods came, want %d", got, pods+1)
		}
		if messages < 3 || messages > 10 {
			t.Errorf("they came in %d messages", messages)
		}
	})
}

func TestInventoryInPieces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		agent := w.open("n1", storeID)
		var want []string
		for i := range 30 {
			pod := w.createPod(newPod(fmt.Sprintf("p%02d", i), "n1"))
			if i%2 == 0 {
				want = append(want, "ADD "+pod.Name)
				continue
			}
			agent.send(&nodepb.AgentMessage{Message: &nodepb.AgentMessage_Inventory{
				Inventory: &nodepb.Inventory{Objects: []*nodepb.ObjectKey{podKey(pod)}},
			}})
		}
		synctest.Wait() // until dispatch has seen the last pod
		got := agent.sync()
		// Pods of the same second are in the order of their creation.
		equal(t, got, append(want, "SYNCED")...)
	})
}

func TestWatchNodeShowsWithoutASession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		w.createPod(withSecret(newPod("a", "n1"), "s"))
		agent, _ := w.connect("n1")
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		view, err := w.client.WatchNode(ctx, &nodepb.WatchNodeRequest{Node: "n1"})
		if err != nil {
			t.Fatal(err)
		}
		next := func() string {
			reply, err := view.Recv()
			if err != nil {
				t.Fatal(err)
			}
			if reply.GetSynced() != nil {
				return "SYNCED"
			}
			return strings.Join(describePods(reply.GetPodUpdate()), ",")
		}
		equal(t, []string{next(), next()}, "ADD a", "SYNCED")
		w.createPod(newPod("b", "n1"))
		agent.expect("ADD b")
		equal(t, []string{next()}, "ADD b")
		w.deletePod("a", 30)
		agent.expect("DELETE a")
		equal(t, []string{next()}, "DELETE a")
	})
}

// brokenWatches is a registry whose watches break on demand.
type brokenWatches struct {
	Registry
	mu      sync.Mutex
	watches []*brokenWatch
	from    []string
}

type brokenWatch struct {
	registry.Watch
	broken chan error
}

func (b *brokenWatches) Watch(ctx context.Context, k *api.Kind, namespace string, o registry.WatchOptions) (registry.Watch, error) {
	w, err := b.Registry.Watch(ctx, k, namespace, o)
	if err != nil {
		return nil, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	broken := &brokenWatch{w, make(chan error, 1)}
	b.watches = append(b.watches, broken)
	b.from = append(b.from, k.Name+" "+o.ResourceVersion)
	return broken, nil
}

// breakAll makes all watches miss what follows, and end with err at resume.
func (b *brokenWatches) breakAll(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, w := range b.watches {
		w.broken <- err
	}
	b.watches = nil
}

func (w *brokenWatch) Next(ctx context.Context) ([]registry.WatchEvent, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stopped := make(chan struct{})
	defer func() { <-stopped }()
	defer cancel(nil)
	go func() {
		defer close(stopped)
		select {
		case err := <-w.broken:
			cancel(err)
		case <-ctx.Done():
		}
	}()
	events, err := w.Watch.Next(ctx)
	if err != nil {
		return nil, context.Cause(ctx)
	}
	return events, nil
}

func TestBrokenWatchIsTakenUp(t *testing.T) {
	for _, test := range []struct {
		name    string
		err     error
		resumes bool
	}{
		{"resumed", errors.New("connection reset"), true},
		{"listed again", apierrors.NewResourceExpired("compacted"), false},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var b *brokenWatches
				w := newWorld(t, func(r Registry) Registry {
					b = &brokenWatches{Registry: r}
					return b
				})
				w.create(api.Secrets, newSecret("gone", "1"))
				w.create(api.Secrets, newSecret("kept", "1"))
				w.createPod(withSecret(withSecret(newPod("kept", "n1"), "kept"), "gone"))
				w.createPod(newPod("gone", "n1"))
				agent, _ := w.connect("n1")
				synctest.Wait()

				b.breakAll(test.err)
				w.deletePod("gone", 0)
				if _, err := w.registry.Delete(t.Context(), api.Secrets, "default", "gone", metav1.DeleteOptions{}); err != nil {
					t.Fatal(err)
				}
				w.createPod(newPod("new", "n1"))
				time.Sleep(time.Second)
				synctest.Wait()

				var got []string
				for len(got) < 3 {
					got = append(got, describe(t, agent.recv())...)
				}
				slices.Sort(got)
				equal(t, got, "ADD new", "REMOVE gone", "forget secret gone")
				agent.quiet()
				if again := slices.Contains(b.from[4:], "Pod "); again == test.resumes {
					t.Errorf("watches began at %q", b.from)
				}
			})
		})
	}
}
