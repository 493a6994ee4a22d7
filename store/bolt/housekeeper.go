// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package bolt

import (
	"context"
	"time"
)

// housekeep does what is due from time to time, in memory only, until ctx ends.
func (s *Store) housekeep(ctx context.Context) {
	progress := time.NewTicker(s.opts.ProgressInterval)
	defer progress.Stop()
	expiry := time.NewTicker(max(s.opts.KeepSnapshots/4, time.Millisecond))
	defer expiry.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-progress.C:
			s.hub.mark()
		case <-expiry.C:
			s.kept.expire(time.Now())
		}
	}
}
