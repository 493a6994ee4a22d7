// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package bolt

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"time"

	bbolt "go.etcd.io/bbolt"
)

// compactStep bounds the events that one transaction removes, and so how long
// a write may have to wait for it.
const compactStep = 1024

// compactor removes the events that the log no longer has to keep. It works
// when the log outgrows its size, and looks at its age from time to time, but
// never while nothing is written: an idle store does not touch its disk.
type compactor struct {
	file     *file
	usage    *logUsage
	maxAge   time.Duration
	interval time.Duration
	logger   *slog.Logger
}

func (c *compactor) run(ctx context.Context) {
	ticker := time.NewTicker(c.interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-c.usage.full:
		case <-ticker.C:
		}
		if !c.usage.look() {
			continue
		}
		if err := c.compact(ctx); err != nil {
			c.usage.lookAgain()
			c.logger.Error("Cannot compact the event log, will try again", "err", err)
		}
	}
}

// compact removes step by step what is over the limits, until nothing is.
func (c *compactor) compact(ctx context.Context) error {
	for ctx.Err() == nil {
		old, err := c.oldest()
		if err != nil || len(old) == 0 {
			return err
		}
		if err := c.remove(old); err != nil {
			return err
		}
	}
	return nil
}

// oldest returns the keys of the events that are over a limit, at most
// compactStep of them.
func (c *compactor) oldest() ([][]byte, error) {
	surplusEvents, surplusBytes := c.usage.surplus()
	before := c.usage.now().Add(-c.maxAge).Unix()
	var keys [][]byte
	var size int64
	err := c.file.view(func(tx *bbolt.Tx) error {
		cursor := tx.Bucket(bucketLog).Cursor()
		for k, v := cursor.First(); k != nil && len(keys) < compactStep; k, v = cursor.Next() {
			r, err := decodeLog(k, v)
			if err != nil {
				return fmt.Errorf("event %x: %w", k, err)
			}
			if len(keys) >= surplusEvents && size >= surplusBytes && r.seconds >= before {
				return nil
			}
			keys = append(keys, bytes.Clone(k))
			size += int64(len(v))
		}
		return nil
	})
	return keys, err
}

// remove deletes the events and raises the floor to the last of them.
func (c *compactor) remove(keys [][]byte) error {
	last, err := decodeRevision(keys[len(keys)-1])
	if err != nil {
		return err
	}
	var events int
	var size int64
	err = c.file.update(func(tx *bbolt.Tx) error {
		log := tx.Bucket(bucketLog)
		for _, k := range keys {
			v := log.Get(k)
			if v == nil {
				continue
			}
			events, size = events+1, size+int64(len(v))
			if err := log.Delete(k); err != nil {
				return err
			}
		}
		return raiseFloor(tx, last)
	})
	if err == nil {
		c.usage.shrink(events, size)
	}
	return err
}
