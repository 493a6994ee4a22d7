// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package events

import (
	"context"
	"log/slog"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-run/berth/api"
	"github.com/berth-run/berth/server/registry"
)

// batch is how many removals are under way at once: they share a commit or two, and
// what others write waits for no more than that.
const batch = 512

// sweeper removes the events that are to go.
type sweeper struct {
	registry Registry
	policy   policy
	log      *slog.Logger
	removed  *prometheus.CounterVec
	feeds    registry.Feeds

	mu     sync.Mutex
	ledger *ledger
	// begun: all that was stored before has been heard of.
	begun bool
	// full holds a token when there are too many.
	full chan struct{}
}

func newSweeper(reg Registry, o Options) *sweeper {
	s := &sweeper{
		registry: reg,
		policy:   policy{ttl: o.TTL, max: o.Max},
		log:      o.Logger,
		removed: promauto.With(o.Metrics).NewCounterVec(prometheus.CounterOpts{
			Name: "berth_events_removed_total",
			Help: "Events that were removed: expired, or surplus as there were too many.",
		}, []string{"cause"}),
		ledger: newLedger(),
		full:   make(chan struct{}, 1),
	}
	s.feeds = registry.Feeds{registry.NewFeed(reg, api.Events, sink{s}, o.Logger)}
	return s
}

// run removes what is to go until ctx ends.
func (s *sweeper) run(ctx context.Context) error {
	ticker := time.NewTicker(s.policy.every())
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		case <-s.full:
		}
		s.sweep(ctx)
	}
}

// sweep removes what is to go now, batch by batch. What cannot be removed is left to
// the next sweep.
func (s *sweeper) sweep(ctx context.Context) {
	for {
		expired, surplus := s.take()
		if len(expired)+len(surplus) == 0 {
			return
		}
		err := s.remove(ctx, append(expired, surplus...))
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			s.log.Warn("old events cannot be removed", "err", err)
			return
		}
		s.removed.WithLabelValues("expired").Add(float64(len(expired)))
		s.removed.WithLabelValues("surplus").Add(float64(len(surplus)))
	}
}

func (s *sweeper) take() (expired, surplus []*entry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.policy.take(s.ledger, time.Now(), batch)
}

// remove removes the events, all at the same time, and returns why some are left.
func (s *sweeper) remove(ctx context.Context, entries []*entry) error {
	var removals sync.WaitGroup
	errs := make([]error, len(entries))
	for i, e := range entries {
		removals.Go(func() { errs[i] = s.removeOne(ctx, e) })
	}
	removals.Wait()
	var failed error
	for i, err := range errs {
		if err != nil {
			failed = err
			s.putBack(entries[i])
		}
	}
	return failed
}

// removeOne removes the version of the event that is to go. If it happens again
// meanwhile, it stays.
func (s *sweeper) removeOne(ctx context.Context, e *entry) error {
	version := strconv.FormatUint(e.revision, 10)
	_, err := s.registry.Delete(ctx, api.Events, e.namespace, e.name, metav1.DeleteOptions{
		Preconditions: &metav1.Preconditions{UID: &e.uid, ResourceVersion: &version},
	})
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil
	}
	return err
}

func (s *sweeper) putBack(e *entry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ledger.byUID[e.uid] == nil {
		s.ledger.set(e)
	}
}

// noted takes in an event as it is stored now.
func (s *sweeper) noted(event *corev1.Event) {
	revision, _ := strconv.ParseUint(event.ResourceVersion, 10, 64) // the registry's are numbers
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ledger.has(event.UID, revision) {
		return
	}
	last := time.Now()
	if !s.begun {
		last = lastWritten(event, last)
	}
	s.ledger.set(&entry{
		uid: event.UID, namespace: event.Namespace, name: event.Name, revision: revision, last: last,
	})
	if s.policy.tooMany(s.ledger) {
		s.callFor()
	}
}

func (s *sweeper) callFor() {
	select {
	case s.full <- struct{}{}:
	default:
	}
}
