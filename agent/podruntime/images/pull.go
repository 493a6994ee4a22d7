// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package images

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// tellEvery is how often those who wait for a pull hear how far it is.
const tellEvery = time.Second

// puller pulls so many images at once, each once at a time: who asks for one that
// is being pulled with the same credentials waits for that pull.
type puller struct {
	client runtimeapi.ImageServiceClient
	slots  *semaphore.Weighted

	mu       sync.Mutex
	inFlight map[string]*pull
}

func newPuller(client runtimeapi.ImageServiceClient, parallel int) *puller {
	return &puller{client: client, slots: semaphore.NewWeighted(int64(parallel)), inFlight: map[string]*pull{}}
}

// pull is a call that one or more callers wait for. It ends when the runtime
// answers, or is cancelled when its last waiter leaves.
type pull struct {
	cancel  context.CancelFunc
	done    chan struct{}
	waiters int
	stage   stages

	// Set before done is closed.
	result pulled
	err    error
}

// pulled is what came of a pull.
type pulled struct {
	id string
	// took is how long the runtime needed, without the wait for a slot.
	took time.Duration
}

// pull returns what came of the image's pull, and tells meanwhile how far it is.
// When the context ends first, so does the pull, unless another caller waits for it
// too.
func (p *puller) pull(ctx context.Context, image string, auths []*runtimeapi.AuthConfig, tell func(stage)) (pulled, error) {
	key := pullKey(image, auths)
	f := p.join(ctx, key, image, auths)
	ticker := time.NewTicker(tellEvery)
	defer ticker.Stop()
	for {
		select {
		case <-f.done:
			return f.result, f.err
		case <-ctx.Done():
			p.leave(key, f)
			return pulled{}, ctx.Err()
		case <-ticker.C:
			tell(f.stage.now())
		}
	}
}

func (p *puller) join(ctx context.Context, key, image string, auths []*runtimeapi.AuthConfig) *pull {
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
		f.result, f.err = p.run(ctx, f, image, auths)
		p.forget(key, f)
	}()
	return f
}

// leave gives up waiting. The last to leave ends the call and sees it end.
func (p *puller) leave(key string, f *pull) {
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
func (p *puller) forget(key string, f *pull) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.inFlight[key] == f {
		delete(p.inFlight, key)
	}
}

// run pulls the image when it is its turn.
func (p *puller) run(ctx context.Context, f *pull, image string, auths []*runtimeapi.AuthConfig) (pulled, error) {
	if err := p.slots.Acquire(ctx, 1); err != nil {
		return pulled{}, err
	}
	defer p.slots.Release(1)
	f.stage.begin()
	began := time.Now()
	id, err := p.call(ctx, image, auths)
	return pulled{id: id, took: time.Since(began)}, err
}

// call tries each of the credentials, or none when there are none.
func (p *puller) call(ctx context.Context, image string, auths []*runtimeapi.AuthConfig) (string, error) {
	if len(auths) == 0 {
		auths = []*runtimeapi.AuthConfig{nil}
	}
	var errs []error
	for _, auth := range auths {
		r, err := p.client.PullImage(ctx, &runtimeapi.PullImageRequest{
			Image: &runtimeapi.ImageSpec{Image: image}, Auth: auth,
		})
		if err == nil {
			return r.GetImageRef(), nil
		}
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		errs = append(errs, plain(err))
	}
	return "", errors.Join(errs...)
}

// pullKey tells pulls with different credentials apart: what one pod may pull,
// another may not.
func pullKey(image string, auths []*runtimeapi.AuthConfig) string {
	if len(auths) == 0 {
		return image
	}
	var all strings.Builder
	for _, a := range auths {
		fmt.Fprintf(&all, "%q %q %q %q\n", a.GetUsername(), a.GetPassword(), a.GetIdentityToken(), a.GetRegistryToken())
	}
	return fmt.Sprintf("%s %x", image, sha256.Sum256([]byte(all.String())))
}
