// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package images

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/berth-run/berth/agent/podruntime/images/credentials"
)

// tellEvery is how often those who wait for a pull hear how far it is.
const tellEvery = time.Second

// pullKey tells pulls with different credentials apart: what one pod may pull,
// another may not.
type pullKey struct{ image, credentials string }

// puller pulls so many images at once, each once at a time: who asks for one that
// is being pulled with the same credentials waits for that pull.
type puller struct {
	client  runtimeapi.ImageServiceClient
	slots   *semaphore.Weighted
	monitor monitor

	mu       sync.Mutex
	inFlight map[pullKey]*pull
}

func newPuller(client runtimeapi.ImageServiceClient, parallel int, m monitor) *puller {
	return &puller{client: client, slots: semaphore.NewWeighted(int64(parallel)), monitor: m, inFlight: map[pullKey]*pull{}}
}

// pull is a call that one or more callers wait for. It ends when the runtime
// answers, or is cancelled when its last waiter leaves.
type pull struct {
	cancel  context.CancelFunc
	done    chan struct{}
	waiters int
	stage   stages

	// Set before done is closed.
	result outcome
	err    error
}

// outcome is what came of a pull.
type outcome struct {
	id string
	// login is the one that it was pulled with; nil if without any.
	login *credentials.Credential
	// took is how long the runtime needed, without the wait for a slot.
	took time.Duration
}

// pull returns what came of the image's pull, and tells meanwhile how far it is.
// When the context ends first, so does the pull, unless another caller waits for it
// too.
func (p *puller) pull(ctx context.Context, image reference, logins []credentials.Credential, tell func(stage)) (outcome, error) {
	key := pullKey{image.full, credentials.Fingerprint(logins)}
	f := p.join(ctx, key, image, logins)
	ticker := time.NewTicker(tellEvery)
	defer ticker.Stop()
	for {
		select {
		case <-f.done:
			return f.result, f.err
		case <-ctx.Done():
			p.leave(key, f)
			return outcome{}, ctx.Err()
		case <-ticker.C:
			tell(f.stage.now())
		}
	}
}

func (p *puller) join(ctx context.Context, key pullKey, image reference, logins []credentials.Credential) *pull {
	p.mu.Lock()
	defer p.mu.Unlock()
	if f, ok := p.inFlight[key]; ok {
		f.waiters++
		return f
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	f := &pull{cancel: cancel, done: make(chan struct{}), waiters: 1}
	p.inFlight[key] = f
	go func() {
		defer close(f.done)
		defer cancel()
		f.result, f.err = p.run(ctx, f, image, logins)
		p.forget(key, f)
	}()
	return f
}

// leave gives up waiting. The last to leave ends the call and sees it end.
func (p *puller) leave(key pullKey, f *pull) {
	p.mu.Lock()
	f.waiters--
	last := f.waiters == 0
	p.mu.Unlock()
	if last {
		p.forget(key, f)
		f.cancel()
		<-f.done
	}
}

// forget lets the next caller begin a pull of its own.
func (p *puller) forget(key pullKey, f *pull) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.inFlight[key] == f {
		delete(p.inFlight, key)
	}
}

// run pulls the image when it is its turn.
func (p *puller) run(ctx context.Context, f *pull, image reference, logins []credentials.Credential) (outcome, error) {
	if err := p.slots.Acquire(ctx, 1); err != nil {
		return outcome{}, err
	}
	defer p.slots.Release(1)
	f.stage.begin()
	began := time.Now()
	got, err := p.monitor.followed(ctx, image, &f.stage, func(ctx context.Context) (outcome, error) {
		return p.attempt(ctx, image.full, logins)
	})
	got.took = time.Since(began)
	return got, err
}

// attempt tries each of the logins, or to do without when there are none.
func (p *puller) attempt(ctx context.Context, image string, logins []credentials.Credential) (outcome, error) {
	if len(logins) == 0 {
		id, err := p.call(ctx, image, nil)
		if err != nil && ctx.Err() == nil {
			err = attemptErrors{{err: plain(err)}}
		}
		return outcome{id: id}, err
	}
	var errs attemptErrors
	for _, login := range logins {
		id, err := p.call(ctx, image, login.Auth)
		if err == nil {
			return outcome{id: id, login: &login}, nil
		}
		if ctx.Err() != nil {
			return outcome{}, ctx.Err()
		}
		errs = append(errs, &attemptError{login: login.String(), err: plain(err)})
	}
	return outcome{}, errs
}

func (p *puller) call(ctx context.Context, image string, auth *runtimeapi.AuthConfig) (string, error) {
	r, err := p.client.PullImage(ctx, &runtimeapi.PullImageRequest{Image: &runtimeapi.ImageSpec{Image: image}, Auth: auth})
	return r.GetImageRef(), err
}
