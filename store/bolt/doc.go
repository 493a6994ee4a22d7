// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package bolt is the store engine for one machine: a single bbolt file, all of
// whose current entries are also held in memory.
//
// # Schema
//
// Revisions are 8 bytes, big-endian, so that bbolt keeps them in order;
// uvarint, uint8 and bytes are appended without padding.
//
//	meta
//	  schema  → uvarint            version of this schema
//	  id      → text               the store's ID, for the life of its data
//	  floor   → revision           events up to and including it are gone
//	epochs
//	  first revision → previous revision | text
//	                               one record per Open: the head at which the
//	                               one before ended, and the epoch's random ID
//	entries
//	  key → checksum | revision | value
//	                               the current entries
//	log
//	  revision → checksum | uint8 type | uvarint Unix seconds | uvarint previous revision
//	             | uvarint key length | key | previous value
//	                               the past, down to the floor
//
// A checksum is the CRC-32C of a record's key and of what follows, 4 bytes,
// big-endian: bbolt has none for what its pages hold. A store with an entry whose
// checksum does not match is not opened: to serve it without the entry would make
// a node end a pod that nobody deleted. An event is checked when it is read.
//
// An event holds what its change replaced or deleted, never what it wrote. What
// it wrote is the previous value of the next event on that key or, if there is
// none, the current entry. So no value is stored twice, and yet every event and
// every past state can be rebuilt down to the floor, also after a restart.
//
// # Revisions
//
// The head is the newest of: the last event, the floor, the last epoch's first
// revision. It needs no record of its own. Each Open begins an epoch at least
// 2^20 revisions above the head, plus a random part below 2^38 at first, and then
// in proportion to what is left below 2^53. Revisions between the end
// of one epoch and the beginning of the next were never assigned here; a client
// that names one saw another history (the file is a copy, or was restored from
// one) and is told to list again.
//
// # Goroutines
//
//	callers ──► queue ──► committer ──► bbolt, one transaction per batch
//	                          │ after the commit
//	                          ├──► hub: new snapshot, then every watcher's buffer
//	                          ├──► answers to the callers
//	                          └──► compactor, when the log is over its limits
//	housekeeper: progress marks, expiry of kept snapshots
//
// The committer is the only writer of entries and log, the compactor removes
// old events in transactions of its own. Both, and the housekeeper, end before
// Close returns. Nothing commits while nothing is written.
package bolt
