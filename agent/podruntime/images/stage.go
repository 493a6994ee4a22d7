// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package images

import (
	"fmt"
	"sync"

	"github.com/berth-run/berth/agent/cri"
)

// stage is how far a pull is.
type stage struct {
	// begun: it has its slot among the pulls of the node.
	begun bool
	// progress is how far it is, as far as the runtime tells.
	progress cri.PullProgress
}

// describe says it to the user of an image.
func (s stage) describe(image string) string {
	if !s.begun {
		return fmt.Sprintf("Waiting to pull image %q: the node pulls as many images at once as it may", image)
	}
	said := fmt.Sprintf("Pulling image %q", image)
	switch p := s.progress; {
	case p.Total == 0:
		return said
	case p.Done < p.Total:
		return fmt.Sprintf("%s: %s of %s", said, size(p.Done), size(p.Total))
	default:
		return fmt.Sprintf("%s: unpacking %s", said, size(p.Total))
	}
}

func size(bytes int64) string {
	if bytes < 1<<20 {
		return fmt.Sprintf("%d KiB", bytes>>10)
	}
	return fmt.Sprintf("%d MiB", bytes>>20)
}

// stages is the stage that a pull is in.
type stages struct {
	mu      sync.Mutex
	current stage
}

func (s *stages) now() stage {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.current
}

func (s *stages) begin() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.current.begun = true
}

func (s *stages) set(p cri.PullProgress) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.current.progress = p
}
