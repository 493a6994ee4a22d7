// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package bolt

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	bbolt "go.etcd.io/bbolt"
)

// schemaVersion is what this package writes. A file of an older version is
// migrated by Open, one of a newer version is refused.
const schemaVersion = 2

var (
	bucketMeta    = []byte("meta")
	bucketEpochs  = []byte("epochs")
	bucketEntries = []byte("entries")
	bucketLog     = []byte("log")

	keySchema = []byte("schema")
	keyID     = []byte("id")
	keyFloor  = []byte("floor")
)

var errForeign = errors.New("it is a bbolt file of another program: name another path")

// migrations[v] turns a file of schema version v into one of v+1.
var migrations = [schemaVersion]func(*bbolt.Tx) error{
	addFloor,
	addChecksums,
}

// ensureSchema makes an empty file a store and brings an older one up to
// schemaVersion.
func ensureSchema(tx *bbolt.Tx) error {
	if name, _ := tx.Cursor().First(); name == nil {
		return createSchema(tx)
	}
	version, err := readSchema(tx)
	if err != nil {
		return err
	}
	if version > schemaVersion {
		return fmt.Errorf("it has schema version %d, and this berth knows versions up to %d: "+
			"run the berth that wrote it or a newer one, or restore a copy made before the upgrade", version, schemaVersion)
	}
	for ; version < schemaVersion; version++ {
		if err := migrations[version](tx); err != nil {
			return fmt.Errorf("migrate schema version %d: %w", version, err)
		}
	}
	return writeSchema(tx, schemaVersion)
}

func createSchema(tx *bbolt.Tx) error {
	for _, name := range [][]byte{bucketMeta, bucketEpochs, bucketEntries, bucketLog} {
		if _, err := tx.CreateBucket(name); err != nil {
			return err
		}
	}
	if err := tx.Bucket(bucketMeta).Put(keyID, []byte(randomID())); err != nil {
		return err
	}
	if err := writeFloor(tx, 0); err != nil {
		return err
	}
	return writeSchema(tx, schemaVersion)
}

// readSchema returns the file's version; files of version 0 carry no record.
func readSchema(tx *bbolt.Tx) (uint64, error) {
	for _, name := range [][]byte{bucketMeta, bucketEpochs, bucketEntries, bucketLog} {
		if tx.Bucket(name) == nil {
			return 0, errForeign
		}
	}
	record := tx.Bucket(bucketMeta).Get(keySchema)
	if record == nil {
		return 0, nil
	}
	version, size := binary.Uvarint(record)
	if size != len(record) {
		return 0, fmt.Errorf("schema version: %w", errDamaged)
	}
	return version, nil
}

func writeSchema(tx *bbolt.Tx, version uint64) error {
	return tx.Bucket(bucketMeta).Put(keySchema, binary.AppendUvarint(nil, version))
}

// addFloor is the migration from version 0, whose floor was implied: all
// events below the first of the log.
func addFloor(tx *bbolt.Tx) error {
	first, _ := tx.Bucket(bucketLog).Cursor().First()
	if first != nil {
		revision, err := decodeRevision(first)
		if err != nil {
			return err
		}
		return writeFloor(tx, revision-1)
	}
	var floor int64
	err := tx.Bucket(bucketEntries).ForEach(func(k, v []byte) error {
		entry, err := parseEntry(k, v)
		floor = max(floor, entry.Revision)
		return err
	})
	if err != nil {
		return err
	}
	return writeFloor(tx, floor)
}

// addChecksums is the migration from version 1, whose records had none.
func addChecksums(tx *bbolt.Tx) error {
	for _, name := range [][]byte{bucketEntries, bucketLog} {
		if err := sealAll(tx.Bucket(name)); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

func sealAll(bucket *bbolt.Bucket) error {
	var keys [][]byte
	if err := bucket.ForEach(func(k, _ []byte) error {
		keys = append(keys, bytes.Clone(k))
		return nil
	}); err != nil {
		return err
	}
	for _, k := range keys {
		record := append(make([]byte, sealSize), bucket.Get(k)...)
		if err := bucket.Put(k, seal(k, record)); err != nil {
			return err
		}
	}
	return nil
}

func readFloor(tx *bbolt.Tx) (int64, error) {
	floor, err := decodeRevision(tx.Bucket(bucketMeta).Get(keyFloor))
	if err != nil {
		return 0, fmt.Errorf("floor: %w", err)
	}
	return floor, nil
}

func writeFloor(tx *bbolt.Tx, floor int64) error {
	return tx.Bucket(bucketMeta).Put(keyFloor, encodeRevision(floor))
}

// raiseFloor makes floor the floor, unless a higher one is.
func raiseFloor(tx *bbolt.Tx, floor int64) error {
	current, err := readFloor(tx)
	if err != nil || floor <= current {
		return err
	}
	return writeFloor(tx, floor)
}

// readHead returns the newest revision in the file.
func readHead(tx *bbolt.Tx) (int64, error) {
	head, err := readFloor(tx)
	if err != nil {
		return 0, err
	}
	for _, bucket := range [][]byte{bucketEpochs, bucketLog} {
		last, _ := tx.Bucket(bucket).Cursor().Last()
		if last == nil {
			continue
		}
		revision, err := decodeRevision(last)
		if err != nil {
			return 0, fmt.Errorf("last of %s: %w", bucket, err)
		}
		head = max(head, revision)
	}
	return head, nil
}
