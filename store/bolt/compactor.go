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
		if err != nil || len(old.keys) == 0 {
			return err
		}
		if err := c.remove(old); err != nil {
			return err
		}
	}
	return nil
}

// events are some of the log's, the oldest first.
type oldEvents struct {
	keys  [][]byte
	bytes int64
}

// oldest returns the events that are over a limit, at most compactStep of them.
func (c *compactor) oldest() (oldEvents, error) {
	events, bytes := c.usage.surplus()
	before := c.usage.now().Add(-c.maxAge).Unix()
	var old oldEvents
	err := c.file.view(func(tx *bbolt.Tx) error {
		cursor := tx.Bucket(bucketLog).Cursor()
		for k, v := cursor.First(); k != nil && len(old.keys) < compactStep; k, v = cursor.Next() {
			r, err := decodeLog(v)
			if err != nil {
				return fmt.Errorf("event %x: %w", k, err)
			}
			if len(old.keys) >= events && old.bytes >= bytes && r.seconds >= before {
				return nil
			}
			old.add(k, len(v))
		}
		return nil
	})
	return old, err
}

func (o *oldEvents) add(key []byte, size int) {
	o.keys = append(o.keys, bytes.Clone(key))
	o.bytes += int64(size)
}

// remove deletes the events and raises the floor to the last of them.
func (c *compactor) remove(old oldEvents) error {
	err := c.file.update(func(tx *bbolt.Tx) error {
		log := tx.Bucket(bucketLog)
		for _, k := range old.keys {
			if err := log.Delete(k); err != nil {
				return err
			}
		}
		last, err := decodeRevision(old.keys[len(old.keys)-1])
		if err != nil {
			return err
		}
		return raiseFloor(tx, last)
	})
	if err == nil {
		c.usage.shrink(len(old.keys), old.bytes)
	}
	return err
}
