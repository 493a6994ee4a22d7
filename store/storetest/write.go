// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package storetest

import (
	"bytes"
	"context"
	"errors"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/berth-run/berth/store"
)

func testCRUD(t *testing.T, e Engine) {
	s, ctx := open(t, e), context.Background()
	created := create(t, s, "a", "1")
	got, err := s.Get(ctx, "a")
	wantErr(t, err, nil)
	wantEqual(t, got, entry("a", "1", created))

	updated := update(t, s, "a", "2", created)
	if updated <= created {
		t.Fatalf("revision %d after %d", updated, created)
	}
	updated = update(t, s, "a", "3", store.Any)
	got, err = s.Get(ctx, "a")
	wantErr(t, err, nil)
	wantEqual(t, got, entry("a", "3", updated))

	removed, revision, err := s.Delete(ctx, "a", updated)
	wantErr(t, err, nil)
	wantEqual(t, removed, entry("a", "3", updated))
	if revision <= updated || s.Head() != revision {
		t.Fatalf("deletion at %d after %d, head %d", revision, updated, s.Head())
	}
	_, err = s.Get(ctx, "a")
	wantErr(t, err, store.ErrNotFound)

	again := create(t, s, "a", "4")
	if again <= revision {
		t.Fatalf("revision %d after %d", again, revision)
	}
}

func testRefusals(t *testing.T, e Engine) {
	s, ctx := open(t, e), context.Background()
	first := create(t, s, "a", "1")
	second := update(t, s, "a", "2", first)
	head := s.Head()

	_, err := s.Create(ctx, "a", nil)
	wantErr(t, err, store.ErrExists)
	_, err = s.Update(ctx, "a", nil, first)
	wantErr(t, err, store.ErrConflict)
	_, err = s.Update(ctx, "b", nil, store.Any)
	wantErr(t, err, store.ErrNotFound)
	_, err = s.Update(ctx, "b", nil, first)
	wantErr(t, err, store.ErrNotFound)
	_, _, err = s.Delete(ctx, "a", first)
	wantErr(t, err, store.ErrConflict)
	_, _, err = s.Delete(ctx, "b", store.Any)
	wantErr(t, err, store.ErrNotFound)
	if err == nil || !strings.Contains(err.Error(), `"b"`) {
		t.Fatalf("error %v does not name the key", err)
	}

	wantEqual(t, s.Head(), head)
	wantEqual(t, list(t, s, "", store.ListOptions{}).Entries, []store.Entry{entry("a", "2", second)})
}

func testKeysAndValues(t *testing.T, e Engine) {
	s, ctx := open(t, e), context.Background()
	_, err := s.Create(ctx, "", []byte("x"))
	wantErr(t, err, store.ErrInvalidKey)
	_, err = s.Create(ctx, "big", make([]byte, 64<<20))
	wantErr(t, err, store.ErrTooLarge)
	_, err = s.Get(ctx, "")
	wantErr(t, err, store.ErrNotFound)

	create(t, s, "empty", "")
	got, err := s.Get(ctx, "empty")
	wantErr(t, err, nil)
	wantEqual(t, len(got.Value), 0)

	value := bytes.Repeat([]byte{0, 0xff}, 1<<19)
	given := bytes.Clone(value)
	_, err = s.Create(ctx, "large", given)
	wantErr(t, err, nil)
	clear(given) // the store must not have kept it
	got, err = s.Get(ctx, "large")
	wantErr(t, err, nil)
	if !bytes.Equal(got.Value, value) {
		t.Fatal("a large value changed")
	}
}

func testEndedContext(t *testing.T, e Engine) {
	s := open(t, e)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := s.Create(ctx, "a", nil)
	wantErr(t, err, context.Canceled)
	_, err = s.List(ctx, "", store.ListOptions{})
	wantErr(t, err, context.Canceled)
	_, err = s.Watch(ctx, "", 0)
	wantErr(t, err, context.Canceled)
	_, err = s.Get(context.Background(), "a")
	wantErr(t, err, store.ErrNotFound)
}

// testConcurrentCAS counts with many writers: no increment may be lost.
func testConcurrentCAS(t *testing.T, e Engine) {
	s, ctx := open(t, e), context.Background()
	create(t, s, "n", "0")
	const writers, times = 8, 25
	var group sync.WaitGroup
	for range writers {
		group.Go(func() {
			for done := 0; done < times; {
				current, err := s.Get(ctx, "n")
				if err != nil {
					t.Error(err)
					return
				}
				n, _ := strconv.Atoi(string(current.Value))
				_, err = s.Update(ctx, "n", []byte(strconv.Itoa(n+1)), current.Revision)
				switch {
				case err == nil:
					done++
				case !errors.Is(err, store.ErrConflict):
					t.Error(err)
					return
				}
			}
		})
	}
	group.Wait()
	got, err := s.Get(ctx, "n")
	wantErr(t, err, nil)
	wantEqual(t, string(got.Value), strconv.Itoa(writers*times))
}
