// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package images

import (
	"time"

	corev1 "k8s.io/api/core/v1"
)

const (
	// statusEvery is how often the container's state may follow a pull: each change
	// is stored and sent to all that watch.
	statusEvery = 5 * time.Second
	// firstEvent of a pull that takes long comes after this time, each other after
	// twice the time before.
	firstEvent = 30 * time.Second
)

// pace decides when to tell of a pull that goes on.
type pace struct {
	began, told time.Time
	last        string
	nextEvent   time.Duration
}

func newPace(now time.Time) *pace { return &pace{began: now, nextEvent: firstEvent} }

// due tells whether the message is for the container's state now, and whether it is
// for an event too.
func (p *pace) due(message string, now time.Time) (state, event bool) {
	if message != p.last && (p.told.IsZero() || now.Sub(p.told) >= statusEvery) {
		state, p.told, p.last = true, now, message
	}
	if now.Sub(p.began) >= p.nextEvent {
		event, p.nextEvent = true, 2*p.nextEvent
	}
	return state, event
}

// teller returns what tells the container's users how far its image is.
func (m *Manager) teller(r Request) func(stage) {
	pace := newPace(time.Now())
	return func(s stage) {
		message := s.describe(r.Container.Image)
		state, event := pace.due(message, time.Now())
		if state && m.cfg.Waiting != nil {
			m.cfg.Waiting(r.Pod, r.Container.Name, message)
		}
		if event {
			m.event(r, corev1.EventTypeNormal, "Pulling", message)
		}
	}
}
