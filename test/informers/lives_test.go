// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package informers

import (
	"context"
	"fmt"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/berth-run/berth/api"
	"github.com/berth-run/berth/test/internal/harness"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"
)

// writers is how many objects are written at once.
const writers = 4

// lives takes objects of every kind through their lives, one step after another.
type lives struct {
	objects []life
	total   int // steps

	mu    sync.Mutex
	done  int
	moved chan struct{} // closed and replaced at each step
}

// life is that of one object.
type life struct {
	kind *api.Kind
	i    int
}

func newLives(pods int) *lives {
	l := &lives{moved: make(chan struct{})}
	for i := range pods {
		l.objects = append(l.objects, life{api.Pods, i})
		if i%10 != 0 {
			continue
		}
		for _, k := range api.Kinds[1:] {
			l.objects = append(l.objects, life{k, i})
		}
	}
	l.total = len(l.objects) * len(steps)
	return l
}

// run makes all steps of all lives.
func (l *lives) run(ctx context.Context, c *harness.Cluster) error {
	client, err := dynamic.NewForConfig(clientConfig(c, runtime.ContentTypeJSON))
	if err != nil {
		return err
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(writers)
	for _, object := range l.objects {
		g.Go(func() error { return l.live(ctx, client, object) })
	}
	return g.Wait()
}

func (l *lives) live(ctx context.Context, client dynamic.Interface, o life) error {
	for _, s := range steps {
		what := fmt.Sprintf("%s of %s %s", s.name, o.kind.Name, o.name())
		err := harness.Poll(ctx, what, func() (bool, error) {
			return again(s.do(ctx, o.resource(client), o))
		})
		if err != nil {
			return err
		}
		l.step()
	}
	return nil
}

func (l *lives) step() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.done++
	close(l.moved)
	l.moved = make(chan struct{})
}

// reach waits until a share of all steps, from 0 to 1, is done.
func (l *lives) reach(ctx context.Context, share float64) error {
	for {
		l.mu.Lock()
		done, moved := l.done, l.moved
		l.mu.Unlock()
		if float64(done) >= share*float64(l.total) {
			return nil
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return fmt.Errorf("%d of %d steps done: %w", done, l.total, ctx.Err())
		}
	}
}
