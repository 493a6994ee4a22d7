// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package images

import (
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

const (
	firstDelay = 10 * time.Second
	maxDelay   = 300 * time.Second
	// forgetAfter a failure that nobody followed up, an entry is dropped.
	forgetAfter = 2 * maxDelay
)

// failureKey has the credentials too: with others a pull is tried at once.
type failureKey struct {
	pod         types.UID
	image       string
	credentials string
}

// failure is the last that a pod's pull of an image came to.
type failure struct {
	at    time.Time
	delay time.Duration
	err   *Error
}

// failures is the back-off of pulls, by pod, image and credentials: 10 s after the
// first failure, twice that after each other, 300 s at most. A success ends it.
type failures struct {
	mu      sync.Mutex
	entries map[failureKey]failure
}

// waiting returns how long the next pull has to wait and the error that it waits
// because of; 0 when it may be tried.
func (f *failures) waiting(key failureKey) (time.Duration, *Error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	e, ok := f.entries[key]
	if !ok {
		return 0, nil
	}
	return max(0, e.delay-time.Since(e.at)), e.err
}

// add notes a failure and returns how long the next pull has to wait.
func (f *failures) add(key failureKey, err *Error) time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	delay := firstDelay
	if last, ok := f.entries[key]; ok && time.Since(last.at) < forgetAfter {
		delay = min(2*last.delay, maxDelay)
	}
	f.forgetOld()
	f.entries[key] = failure{at: time.Now(), delay: delay, err: err}
	return delay
}

// reset forgets the failures of a pod's image, with whatever credentials.
func (f *failures) reset(pod types.UID, image string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for key := range f.entries {
		if key.pod == pod && key.image == image {
			delete(f.entries, key)
		}
	}
}

// pods are those with an image that could not be pulled.
func (f *failures) pods() []types.UID {
	f.mu.Lock()
	defer f.mu.Unlock()
	var all []types.UID
	for key := range f.entries {
		all = append(all, key.pod)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// forgetOld keeps the pods that went from filling the memory.
func (f *failures) forgetOld() {
	for key, e := range f.entries {
		if time.Since(e.at) >= forgetAfter {
			delete(f.entries, key)
		}
	}
}
