// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package bolt

import (
	"bytes"
	"errors"
	"testing"

	"pgregory.net/rapid"

	"github.com/berth-run/berth/store"
)

func TestLogRecordRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := logRecord{
			typ:          rapid.SampledFrom([]store.EventType{store.Created, store.Updated, store.Deleted}).Draw(t, "type"),
			seconds:      rapid.Int64Range(0, 1<<40).Draw(t, "seconds"),
			key:          rapid.SliceOf(rapid.Byte()).Draw(t, "key"),
			prevRevision: rapid.Int64Range(0, maxRevision).Draw(t, "previous revision"),
			prev:         rapid.SliceOf(rapid.Byte()).Draw(t, "previous"),
		}
		got, err := decodeLog([]byte("12345678"), want.encode([]byte("12345678")))
		if err != nil || got.typ != want.typ || got.seconds != want.seconds || !bytes.Equal(got.key, want.key) ||
			got.prevRevision != want.prevRevision || !bytes.Equal(got.prev, want.prev) {
			t.Fatalf("%+v became %+v, %v", want, got, err)
		}
	})
}

func TestEntryRoundTrip(t *testing.T) {
	record := encodeEntry("key", 42, []byte("value"))
	got, err := decodeEntry([]byte("key"), record)
	if err != nil || got.Key != "key" || got.Revision != 42 || string(got.Value) != "value" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestDecodeDamaged(t *testing.T) {
	whole := logRecord{typ: store.Updated, seconds: 1 << 30, key: []byte("key"), prevRevision: 1 << 40}.encode(nil)
	for i := range whole {
		if _, err := decodeLog(nil, whole[:i]); !errors.Is(err, errDamaged) {
			t.Errorf("the first %d bytes of an event: %v", i, err)
		}
	}
	if _, err := decodeLog(nil, seal(nil, []byte{0, 0, 0, 0, byte(store.Progress), 0, 0, 0})); !errors.Is(err, errDamaged) {
		t.Errorf("unknown type: %v", err)
	}
	if _, err := decodeEntry(nil, seal(nil, []byte("....short"))); !errors.Is(err, errDamaged) {
		t.Errorf("short entry: %v", err)
	}
	if _, err := decodeRevision(bytes.Repeat([]byte{0xff}, 8)); !errors.Is(err, errDamaged) {
		t.Errorf("revision beyond the last: %v", err)
	}
}
