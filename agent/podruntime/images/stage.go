// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package images

import (
	"fmt"
	"sync"
)

// stage is how far a pull is.
type stage struct {
	// begun: it has its slot among the pulls of the node.
	begun bool
}

// describe says it to the user of an image.
func (s stage) describe(image string) string {
	if !s.begun {
		return fmt.Sprintf("Waiting to pull image %q: the node pulls as many images at once as it may", image)
	}
	return fmt.Sprintf("Pulling image %q", image)
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
