// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package bolt

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
)

// sealSize is what a checksum takes before a sealed record. bbolt checks the
// pages that hold the tree together, but not what is in them: without it, a bit
// that flips on the disk makes another object.
const sealSize = 4

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// checksum covers the key too: a value under another's key is no less wrong.
func checksum(key, body []byte) uint32 {
	return crc32.Update(crc32.Checksum(key, castagnoli), castagnoli, body)
}

// seal fills in the checksum of a record whose first sealSize bytes are free.
func seal(key, record []byte) []byte {
	binary.BigEndian.PutUint32(record, checksum(key, record[sealSize:]))
	return record
}

// unseal returns what was sealed under key, not copied.
func unseal(key, record []byte) ([]byte, error) {
	if len(record) < sealSize {
		return nil, errDamaged
	}
	body := record[sealSize:]
	if binary.BigEndian.Uint32(record) != checksum(key, body) {
		return nil, fmt.Errorf("%w: its checksum does not match", errDamaged)
	}
	return body, nil
}
