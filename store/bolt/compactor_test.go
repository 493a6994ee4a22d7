// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package bolt

import (
	"context"
	"errors"
	"os"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	bbolt "go.etcd.io/bbolt"

	"github.com/berth-run/berth/store"
)

// TestFlatUnderChurn updates a few entries for long: neither log nor file may
// grow with it.
func TestFlatUnderChurn(t *testing.T) {
	t.Parallel()
	s := newStore(t, Options{LogEvents: 500})
	fill(t, s, 100)
	churn(t, s, 3000)
	before := usedBytes(t, s)
	churn(t, s, 5000)
	if after := usedBytes(t, s); after > before*5/4 {
		t.Errorf("the file grew from %d to %d bytes", before, after)
	}
	events, _ := logSize(t, s)
	if events > 500*5/4+compactStep {
		t.Errorf("%d events in the log", events)
	}
}

// churn makes n updates by a few writers.
func churn(t testing.TB, s *Store, n int) {
	t.Helper()
	var failed atomic.Bool
	var next atomic.Int64
	done := make(chan struct{})
	const writers = 8
	for range writers {
		go func() {
			defer func() { done <- struct{}{} }()
			for i := next.Add(1); i <= int64(n); i = next.Add(1) {
				if _, err := s.Update(context.Background(), podKey(int(i%100)), make([]byte, 1000), store.Any); err != nil {
					failed.Store(true)
				}
			}
		}()
	}
	for range writers {
		<-done
	}
	if failed.Load() {
		t.Fatal("an update failed")
	}
}

func usedBytes(t testing.TB, s *Store) int64 {
	t.Helper()
	file, err := os.Open(s.file.path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

// logSize counts what the log really holds.
func logSize(t testing.TB, s *Store) (events int, bytes int64) {
	t.Helper()
	err := s.file.view(func(tx *bbolt.Tx) error {
		return tx.Bucket(bucketLog).ForEach(func(_, v []byte) error {
			events++
			bytes += int64(len(v))
			return nil
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	return events, bytes
}

// TestLogLimits checks each limit of the log by itself.
func TestLogLimits(t *testing.T) {
	const n, size = 200, 1000
	for _, test := range []struct {
		name      string
		opts      Options
		ahead     time.Duration
		low, high int
	}{
		{"none reached", Options{}, 0, n + 1, n + 1},
		{"events", Options{LogEvents: 50}, 0, 50, 50},
		{"bytes", Options{LogBytes: 20 * size}, 0, 18, 20},
		{"age", Options{LogAge: time.Minute}, time.Hour, 0, 0},
		{"young", Options{LogAge: time.Minute}, 30 * time.Second, n + 1, n + 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			var ahead atomic.Int64
			test.opts.Now = func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
			s := newStore(t, test.opts)
			revision := mustCreate(t, s, "a", "")
			for range n {
				var err error
				if revision, err = s.Update(context.Background(), "a", make([]byte, size), revision); err != nil {
					t.Fatal(err)
				}
			}
			ahead.Store(int64(test.ahead))
			if err := s.compactor.compact(t.Context()); err != nil {
				t.Fatal(err)
			}
			events, bytes := logSize(t, s)
			if events < test.low || events > test.high {
				t.Errorf("%d events left, want %d to %d", events, test.low, test.high)
			}
			if u := s.compactor.usage; u.events != events || u.bytes != bytes {
				t.Errorf("counted %d events of %d bytes, there are %d of %d", u.events, u.bytes, events, bytes)
			}
			checkHistory(t, s)
		})
	}
}

// TestCompactionIsBounded checks that no transaction removes more than a step.
func TestCompactionIsBounded(t *testing.T) {
	s := newStore(t, Options{})
	fill(t, s, compactStep+100)
	all := *s.compactor
	all.maxAge = -time.Hour
	old, err := all.oldest()
	if err != nil || len(old) != compactStep {
		t.Fatalf("%d events in a step, %v", len(old), err)
	}
	compactAll(t, s)
	if events, _ := logSize(t, s); events != 0 {
		t.Errorf("%d events left", events)
	}
}

// TestIdleStoreDoesNotCommit lets a store be idle for days, with events that
// grow old.
func TestIdleStoreDoesNotCommit(t *testing.T) {
	path := t.TempDir() + "/store.db"
	synctest.Test(t, func(t *testing.T) {
		s := mustOpen(t, path, Options{})
		defer s.Close()
		mustCreate(t, s, "a", "")
		before := lastTransaction(t, s)
		time.Sleep(72 * time.Hour)
		if after := lastTransaction(t, s); after != before {
			t.Errorf("%d commits while idle", after-before)
		}
		if events, _ := logSize(t, s); events != 1 {
			t.Errorf("%d events", events)
		}
		mustCreate(t, s, "b", "") // the next write brings the old to an end
		time.Sleep(2 * time.Minute)
		if events, _ := logSize(t, s); events != 1 {
			t.Errorf("%d events", events)
		}
	})
}

func lastTransaction(t testing.TB, s *Store) (id int) {
	t.Helper()
	err := s.file.view(func(tx *bbolt.Tx) error {
		id = tx.ID()
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// TestCompactionRetries lets compactions fail for a time.
func TestCompactionRetries(t *testing.T) {
	path := t.TempDir() + "/store.db"
	synctest.Test(t, func(t *testing.T) {
		var failing atomic.Bool
		s := openFailing(t, path, Options{LogAge: time.Second}, &failing)
		defer s.Close()
		mustCreate(t, s, "a", "")
		failing.Store(true)
		time.Sleep(5 * time.Minute)
		synctest.Wait()
		if events, _ := logSize(t, s); events != 1 {
			t.Errorf("%d events", events)
		}
		failing.Store(false)
		time.Sleep(2 * time.Minute)
		if events, _ := logSize(t, s); events != 0 {
			t.Errorf("%d events", events)
		}
		if _, err := s.Create(context.Background(), "a", nil); !errors.Is(err, store.ErrExists) {
			t.Errorf("error %v", err)
		}
	})
}

// openFailing opens a store whose commits fail while failing is set.
func openFailing(t testing.TB, path string, opts Options, failing *atomic.Bool) *Store {
	t.Helper()
	opts = opts.withDefaults()
	db, err := openFile(path, opts.LockTimeout)
	if err != nil {
		t.Fatal(err)
	}
	c, err := begin(db)
	if err != nil {
		t.Fatal(err)
	}
	f := newFile(path, db)
	f.commit = func(fn func(*bbolt.Tx) error) error {
		if failing.Load() {
			return errInjected
		}
		return db.Update(fn)
	}
	return start(f, c, opts)
}
