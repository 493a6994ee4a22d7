// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package fault scripts what goes wrong with the calls to a runtime: in the
// in-memory fake, and in a proxy in front of a real one.
package fault

import (
	"context"
	"path"
	"sync"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/berth-run/berth/internal/sleep"
)

// Rule says what happens to some calls. Delay comes first; then Hang, or Code, or
// the call itself and DropReply.
type Rule struct {
	// Method is the short name, such as StartContainer; empty for every method.
	Method string
	// Match, if set, picks calls by their request.
	Match func(request proto.Message) bool
	// Skip lets that many matching calls pass before.
	Skip int
	// Times is how many calls the rule is for; 0 for all.
	Times int

	// Delay holds the call up.
	Delay time.Duration
	// Hang holds the call until its context ends. The runtime does not see it.
	Hang bool
	// Code, unless OK, fails the call with that code. The runtime does not see it.
	Code codes.Code
	// DropReply makes the call and then fails it with Unavailable, as when the
	// runtime dies just after the work.
	DropReply bool
}

// Script is a set of rules. The zero value lets everything pass.
type Script struct {
	mu    sync.Mutex
	rules []*armed
}

// armed is a rule and how many matching calls it has seen.
type armed struct {
	Rule
	seen int
}

// Add arms a rule and returns what disarms it. Of several that match a call, the
// one that was added first applies.
func (s *Script) Add(r Rule) (remove func()) {
	a := &armed{Rule: r}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rules = append(s.rules, a)
	return func() { s.remove(a) }
}

func (s *Script) remove(a *armed) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.rules {
		if s.rules[i] == a {
			s.rules = append(s.rules[:i:i], s.rules[i+1:]...)
			return
		}
	}
}

// Around makes the call as the rules have it. fullMethod is gRPC's.
func (s *Script) Around(ctx context.Context, fullMethod string, request proto.Message, call func() error) error {
	r, ok := s.next(path.Base(fullMethod), request)
	if !ok {
		return call()
	}
	if err := sleep.For(ctx, r.Delay); err != nil {
		return status.FromContextError(err).Err()
	}
	switch {
	case r.Hang:
		<-ctx.Done()
		return status.FromContextError(ctx.Err()).Err()
	case r.Code != codes.OK:
		return status.Errorf(r.Code, "%s: failed by a fault rule", path.Base(fullMethod))
	}
	if err := call(); err != nil || !r.DropReply {
		return err
	}
	return status.Errorf(codes.Unavailable, "%s: reply dropped by a fault rule", path.Base(fullMethod))
}

// next returns the rule for a call, and counts the call.
func (s *Script) next(method string, request proto.Message) (Rule, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range s.rules {
		if a.Method != "" && a.Method != method || a.Match != nil && !a.Match(request) {
			continue
		}
		a.seen++
		if a.seen > a.Skip && (a.Times == 0 || a.seen <= a.Skip+a.Times) {
			return a.Rule, true
		}
	}
	return Rule{}, false
}
