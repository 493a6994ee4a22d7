// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/printers"

	"github.com/berth-run/berth/cli/wait"
)

type waitFlags struct {
	selection
	goals   []string
	timeout time.Duration
}

const waitLong = `Wait until objects are as you want them, or until they cannot become so any more.

What to wait for (--for; given several times, all must hold at once):
  ready                              the condition Ready is True (the default)
  condition=NAME[=VALUE]             the condition has that value; True if none is given
  phase=PHASE                        the pod or namespace is in that phase
  jsonpath='{EXPRESSION}'[=VALUE]    the expression finds the value; anything if none is given
  create, delete                     the object is there, or is gone

A wait is for the objects that are there when it begins: one that is deleted and created
again is another. Ready is impossible, and the wait ends at once, when a pod has ended or
is being deleted, when a container has ended that is not started again, and when an image
cannot be had (ErrImagePull, ImagePullBackOff, InvalidImageName, ErrImageNeverPull). What
may heal by itself is waited out, such as CrashLoopBackOff, a Secret that is missing, or a
pod that fits nowhere; a terminal shows it meanwhile.

Exit codes:
  0  what was waited for is there
  1  another error, such as no such object
  2  wrong usage
  3  impossible: the pod succeeded, or a container completed for good
  4  impossible: the pod failed, or a container did for good
  5  impossible: an image cannot be had
  6  the time was over
  7  impossible: the object is being deleted, or is gone`

func waitCommand() *cobra.Command {
	var f waitFlags
	c := &cobra.Command{
		Use:   "wait TYPE NAME... | TYPE/NAME... | TYPE -l SELECTOR | TYPE --all | -f FILE...",
		Short: "Wait until objects are ready, as you want them, or gone",
		Long:  waitLong,
		Example: "  berth wait pod/web\n" +
			"  berth wait pods -l app=web --timeout 2m\n" +
			"  berth wait pod/job --for phase=Succeeded\n" +
			"  berth wait pod/web --for jsonpath='{.status.podIP}'\n" +
			"  berth wait pod/web --for delete",
		RunE: func(c *cobra.Command, args []string) error { return f.run(c, args) },
	}
	f.selection.addFlags(c)
	f.addAllFlag(c)
	f.addAllNamespacesFlag(c)
	c.Flags().StringArrayVar(&f.goals, "for", []string{"ready"}, "what to wait for")
	c.Flags().DurationVar(&f.timeout, "timeout", 30*time.Second, "how long to wait; 0 looks once, less than 0 waits for ever")
	return c
}

func (f *waitFlags) run(c *cobra.Command, args []string) error {
	goals, err := parseGoals(f.goals)
	if err != nil {
		return UsageError(fmt.Errorf("--for %w", err))
	}
	client, closeClient, err := f.connect()
	if err != nil {
		return err
	}
	defer closeClient()
	objects, err := f.objects(c, client, args)
	switch {
	case err != nil:
		return err
	case len(objects) == 0 && goals[0].Delete:
		return nil
	case len(objects) == 0:
		return errors.New("nothing to wait for: no resources found")
	}
	ctx, cancel := f.bounded(c.Context())
	defer cancel()
	w := &waiter{client: client, goals: goals, once: f.timeout == 0, report: reporter(c)}
	return w.all(ctx, objects)
}

func parseGoals(texts []string) ([]wait.Goal, error) {
	goals := make([]wait.Goal, len(texts))
	for i, text := range texts {
		var err error
		if goals[i], err = wait.Parse(text); err != nil {
			return nil, err
		}
		if goals[i].Delete && len(texts) > 1 {
			return nil, fmt.Errorf("%q: cannot be waited for together with another", text)
		}
	}
	return goals, nil
}

func (f *waitFlags) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	if f.timeout <= 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, f.timeout)
}

// reporter says what is seen: what is met to everybody, what is waited out to people.
func reporter(c *cobra.Command) func(named, wait.Verdict) {
	people := printers.IsTerminal(c.ErrOrStderr())
	var mu sync.Mutex
	return func(o named, v wait.Verdict) {
		mu.Lock()
		defer mu.Unlock()
		switch {
		case v.Outcome == wait.Met:
			fmt.Fprintf(c.OutOrStdout(), "%s condition met\n", o)
		case people && v.Outcome == wait.Pending:
			fmt.Fprintf(c.ErrOrStderr(), "%s: %s\n", o, printers.EscapeTerminal(v.Seen))
		}
	}
}
