// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package bolt

import (
	"context"
	"fmt"

	bbolt "go.etcd.io/bbolt"
)

// Check returns why the store does not answer: it is closed, or its file cannot be
// read.
func (s *Store) Check(ctx context.Context) error {
	if err := s.usable(ctx); err != nil {
		return err
	}
	return s.file.view(func(tx *bbolt.Tx) error {
		if id := string(tx.Bucket(bucketMeta).Get(keyID)); id != s.id {
			return fmt.Errorf("%w: its ID is %q, and was %q when it was opened", errDamaged, id, s.id)
		}
		return nil
	})
}
