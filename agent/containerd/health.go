// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package containerd

import (
	"fmt"
	"sync"
)

// trouble is why containerd does not serve.
type trouble struct {
	mu  sync.Mutex
	err error
}

func (r *Runtime) setTrouble(err error) {
	r.trouble.mu.Lock()
	defer r.trouble.mu.Unlock()
	r.trouble.err = err
}

// Healthy returns nil unless containerd ended, or could not be started, and does not
// answer since.
func (r *Runtime) Healthy() error {
	r.trouble.mu.Lock()
	defer r.trouble.mu.Unlock()
	if r.trouble.err != nil {
		return fmt.Errorf("containerd does not serve: %w", r.trouble.err)
	}
	return nil
}
