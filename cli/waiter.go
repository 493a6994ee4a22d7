// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/berth-run/berth/api"
	"github.com/berth-run/berth/cli/wait"
)

// waiter waits for objects.
type waiter struct {
	client *client
	goals  []wait.Goal
	// once makes it look at what there is and not wait.
	once bool
	// report is told each verdict that says something new, by several goroutines.
	report func(named, wait.Verdict)
}

// all waits for objects side by side and fails as soon as one is out of reach. Those
// that run out of time do so together, and are all named.
func (w *waiter) all(ctx context.Context, objects []chosen) error {
	var group sync.WaitGroup
	defer group.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	results := make(chan error, len(objects))
	for _, o := range objects {
		group.Go(func() { results <- w.one(ctx, o) })
	}
	var late []error
	for range objects {
		switch err := <-results; {
		case ExitCode(err) == exitTimeout:
			late = append(late, err)
		case err != nil:
			return err
		}
	}
	if len(late) == 0 {
		return nil
	}
	return &exitError{exitTimeout, errors.Join(late...)}
}

// errDecided is how following an object ends when no later version of it matters.
var errDecided = errors.New("decided")

// one waits for an object: for that which has its name when the wait begins.
func (w *waiter) one(ctx context.Context, o chosen) error {
	var last wait.Verdict
	look := func(obj api.Object) error {
		v, err := wait.All(w.goals, o.kind, obj)
		if err != nil {
			return &exitError{exitUsage, fmt.Errorf("%s: --for %w", o.named, err)}
		}
		if v != last {
			w.report(o.named, v)
		}
		if last = v; v.Outcome != wait.Pending || w.once {
			return errDecided
		}
		return nil
	}
	was, err := w.begin(ctx, o)
	if err == nil {
		err = look(was.obj)
	}
	if err == nil {
		err = w.client.track(ctx, o.kind, was, look)
	}
	if errors.Is(err, errGone) {
		last = w.gone(o)
		err = errDecided
	}
	return w.result(ctx, o, last, err)
}

// begin returns the object to wait for, once it is there if that is a goal.
func (w *waiter) begin(ctx context.Context, o chosen) (at, error) {
	if o.obj != nil {
		return o.at, nil
	}
	now, err := w.client.look(ctx, o.kind, o.namespace, o.name)
	if err != nil || now.obj != nil {
		return now, err
	}
	switch {
	case w.wants(func(g wait.Goal) bool { return g.Delete }):
		return at{}, errGone
	case !w.wants(func(g wait.Goal) bool { return g.Create }):
		return at{}, apierrors.NewNotFound(o.kind.GroupResource(), o.name)
	case w.once:
		return at{}, errDecided
	}
	return w.client.appear(ctx, o.kind, o.namespace, o.name)
}

func (w *waiter) wants(is func(wait.Goal) bool) bool { return slices.ContainsFunc(w.goals, is) }

// gone judges an object that is no longer there.
func (w *waiter) gone(o chosen) wait.Verdict {
	v := wait.Verdict{Outcome: wait.Gone, Seen: "it has been deleted"}
	if w.wants(func(g wait.Goal) bool { return g.Delete }) {
		v = wait.Verdict{Outcome: wait.Met}
		w.report(o.named, v)
	}
	return v
}

var exitCodes = map[wait.Outcome]int{
	wait.Completed: exitCompleted, wait.Failed: exitFailed, wait.ImageError: exitImage, wait.Gone: exitGone,
}

// result says how a wait has ended, of which the last verdict and err are known.
func (w *waiter) result(ctx context.Context, o chosen, last wait.Verdict, err error) error {
	switch {
	case errors.Is(err, errDecided) && last.Outcome == wait.Met:
		return nil
	case errors.Is(err, errDecided) && last.Outcome != wait.Pending:
		return &exitError{exitCodes[last.Outcome], fmt.Errorf("%s: no longer possible: %s", o.named, last.Seen)}
	case errors.Is(err, errDecided), errors.Is(ctx.Err(), context.DeadlineExceeded), status.Code(err) == codes.DeadlineExceeded:
		return &exitError{exitTimeout, fmt.Errorf("%s: the time is over: %s", o.named, orAbsent(last.Seen))}
	case ctx.Err() != nil:
		return fmt.Errorf("no longer waiting for %s", o.named)
	}
	return err
}

func orAbsent(seen string) string {
	if seen == "" {
		return "it is not there"
	}
	return seen
}
