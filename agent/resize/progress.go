// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package resize

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-run/berth/agent/podtypes"
)

// Progress holds how far the resizes are that are not done: the sync loop writes what
// waits, the workers what failed, and both is reported. The zero value is empty. It is
// safe for concurrent use.
type Progress struct {
	mu   sync.Mutex
	pods map[types.UID]podtypes.Resizing
}

// Of returns how far the pod's resize is.
func (p *Progress) Of(uid types.UID) podtypes.Resizing {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.pods[uid]
}

// SetPending notes why the pod's resize waits, nil if it does not, and tells whether
// that is news.
func (p *Progress) SetPending(uid types.UID, why *podtypes.RejectError) (news bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	r := p.pods[uid]
	before := r.Pending
	r.Pending = why
	p.set(uid, r)
	return before == nil && why != nil || before != nil && (why == nil || *before != *why)
}

// SetError notes what failed of the pod's resize; empty if nothing did.
func (p *Progress) SetError(uid types.UID, message string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	r := p.pods[uid]
	r.Err = message
	p.set(uid, r)
}

// Retain forgets the pods that keep does not want.
func (p *Progress) Retain(keep func(types.UID) bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for uid := range p.pods {
		if !keep(uid) {
			delete(p.pods, uid)
		}
	}
}

func (p *Progress) set(uid types.UID, r podtypes.Resizing) {
	if r == (podtypes.Resizing{}) {
		delete(p.pods, uid)
		return
	}
	if p.pods == nil {
		p.pods = map[types.UID]podtypes.Resizing{}
	}
	p.pods[uid] = r
}
