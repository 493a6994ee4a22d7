// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package bolt

import (
	"bytes"
	"encoding/binary"
	"errors"

	"github.com/berth-run/berth/store"
)

// errDamaged marks what neither this package nor bbolt can have written.
var errDamaged = errors.New("damaged")

const revisionSize = 8

func encodeRevision(revision int64) []byte {
	return binary.BigEndian.AppendUint64(make([]byte, 0, revisionSize), uint64(revision))
}

func decodeRevision(b []byte) (int64, error) {
	if len(b) != revisionSize {
		return 0, errDamaged
	}
	revision := int64(binary.BigEndian.Uint64(b))
	if revision < 0 || revision > maxRevision {
		return 0, errDamaged
	}
	return revision, nil
}

// encodeEntry returns the sealed record of an entry. The value in memory is its
// tail, so that one copy of the caller's bytes serves file and readers.
func encodeEntry(key string, revision int64, value []byte) []byte {
	record := make([]byte, sealSize, sealSize+revisionSize+len(value))
	record = binary.BigEndian.AppendUint64(record, uint64(revision))
	return seal([]byte(key), append(record, value...))
}

// entryValue is the value in an entry's sealed record, not copied.
func entryValue(record []byte) []byte {
	return record[sealSize+revisionSize : len(record) : len(record)]
}

// decodeEntry copies an entry out of the file.
func decodeEntry(key, record []byte) (store.Entry, error) {
	body, err := unseal(key, record)
	if err != nil {
		return store.Entry{}, err
	}
	return parseEntry(key, body)
}

// parseEntry reads an entry's record without its checksum.
func parseEntry(key, body []byte) (store.Entry, error) {
	if len(body) < revisionSize {
		return store.Entry{}, errDamaged
	}
	revision, err := decodeRevision(body[:revisionSize])
	if err != nil {
		return store.Entry{}, err
	}
	return store.Entry{Key: string(key), Value: bytes.Clone(body[revisionSize:]), Revision: revision}, nil
}

// logRecord is one event of the log, without its own revision.
type logRecord struct {
	typ store.EventType
	// seconds is the time of the change, in Unix seconds.
	seconds int64
	key     []byte
	// prevRevision and prev are the entry that was replaced or deleted.
	prevRevision int64
	prev         []byte
}

// encode returns the sealed record of the event of that revision.
func (r logRecord) encode(revision []byte) []byte {
	b := make([]byte, sealSize, sealSize+1+3*binary.MaxVarintLen64+len(r.key)+len(r.prev))
	b = append(b, byte(r.typ))
	b = binary.AppendUvarint(b, uint64(max(r.seconds, 0)))
	b = binary.AppendUvarint(b, uint64(r.prevRevision))
	b = binary.AppendUvarint(b, uint64(len(r.key)))
	b = append(b, r.key...)
	return seal(revision, append(b, r.prev...))
}

// decodeLog reads the event of a revision; its key and prev point into record.
func decodeLog(revision, record []byte) (logRecord, error) {
	b, err := unseal(revision, record)
	if err != nil {
		return logRecord{}, err
	}
	if len(b) == 0 {
		return logRecord{}, errDamaged
	}
	r := logRecord{typ: store.EventType(b[0])}
	if r.typ < store.Created || r.typ > store.Deleted {
		return logRecord{}, errDamaged
	}
	var numbers [3]uint64
	b = b[1:]
	for i := range numbers {
		n, size := binary.Uvarint(b)
		if size <= 0 || n > maxRevision {
			return logRecord{}, errDamaged
		}
		numbers[i], b = n, b[size:]
	}
	keySize := numbers[2]
	if keySize > uint64(len(b)) {
		return logRecord{}, errDamaged
	}
	r.seconds, r.prevRevision = int64(numbers[0]), int64(numbers[1])
	r.key, r.prev = b[:keySize], b[keySize:]
	return r, nil
}

// previous copies the entry that the event replaced or deleted out of the file.
func (r logRecord) previous() store.Entry {
	return store.Entry{Key: string(r.key), Value: bytes.Clone(r.prev), Revision: r.prevRevision}
}
