// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package bolt

import (
	"errors"
	"strconv"
	"strings"
	"testing"

	iradix "github.com/hashicorp/go-immutable-radix/v2"

	"github.com/berth-run/berth/store"
)

// TestDecide runs batches on a store that holds a at revision 5 and b at 7, and
// whose head is 10.
func TestDecide(t *testing.T) {
	create := func(key string) *write { return &write{op: opCreate, key: key} }
	update := func(key string, expected int64) *write { return &write{op: opUpdate, key: key, expected: expected} }
	remove := func(key string, expected int64) *write { return &write{op: opDelete, key: key, expected: expected} }
	for _, test := range []struct {
		name   string
		batch  []*write
		errs   []error
		events string
	}{
		{"nothing", nil, nil, ""},
		{"one of each", []*write{create("c"), update("a", 5), remove("b", store.Any)},
			[]error{nil, nil, nil}, "+c@11 ~a@12(5) -b@13(7)"},
		{"refused", []*write{create("a"), update("a", 4), update("x", 1), remove("b", 8), remove("x", store.Any)},
			[]error{store.ErrExists, store.ErrConflict, store.ErrNotFound, store.ErrConflict, store.ErrNotFound}, ""},
		{"refused ones take no revision", []*write{update("a", 5), update("a", 5), update("a", 11)},
			[]error{nil, store.ErrConflict, nil}, "~a@11(5) ~a@12(11)"},
		{"each sees the former", []*write{remove("a", 5), create("a"), create("a"), remove("a", 12), update("a", store.Any)},
			[]error{nil, nil, store.ErrExists, nil, store.ErrNotFound}, "-a@11(5) +a@12 -a@13(12)"},
	} {
		t.Run(test.name, func(t *testing.T) {
			changes := decide(sampleTree().Txn(), 10, test.batch)
			for i, w := range test.batch {
				if !errors.Is(w.err, test.errs[i]) {
					t.Errorf("write %d: error %v, want %v", i, w.err, test.errs[i])
				}
			}
			if got := formatChanges(changes); got != test.events {
				t.Errorf("changes %q, want %q", got, test.events)
			}
		})
	}
}

func TestDecideAtLastRevision(t *testing.T) {
	batch := []*write{{op: opCreate, key: "c"}, {op: opCreate, key: "d"}}
	changes := decide(sampleTree().Txn(), maxRevision-1, batch)
	if len(changes) != 1 || changes[0].event.Revision != maxRevision {
		t.Errorf("changes %+v", changes)
	}
	if !errors.Is(batch[1].err, store.ErrUnavailable) {
		t.Errorf("error %v", batch[1].err)
	}
}

func sampleTree() *tree {
	txn := iradix.New[store.Entry]().Txn()
	txn.Insert([]byte("a"), store.Entry{Key: "a", Value: []byte("1"), Revision: 5})
	txn.Insert([]byte("b"), store.Entry{Key: "b", Value: []byte("2"), Revision: 7})
	return txn.Commit()
}

// formatChanges writes a change as <+ ~ or -><key>@<revision>(<previous revision>).
func formatChanges(changes []change) string {
	var parts []string
	for _, c := range changes {
		part := map[store.EventType]string{store.Created: "+", store.Updated: "~", store.Deleted: "-"}[c.event.Type] +
			c.event.Key + "@" + strconv.FormatInt(c.event.Revision, 10)
		if c.prev.Revision != 0 {
			part += "(" + strconv.FormatInt(c.prev.Revision, 10) + ")"
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, " ")
}

func TestBatchSize(t *testing.T) {
	sized := func(n, size int) []*write {
		writes := make([]*write, n)
		for i := range writes {
			writes[i] = &write{value: make([]byte, size)}
		}
		return writes
	}
	for _, test := range []struct{ n, size, want int }{
		{1, 0, 1},
		{maxBatch, 10, maxBatch},
		{maxBatch + 1, 10, maxBatch},
		{1, MaxValueSize, 1},
		{8, MaxValueSize, 5},
	} {
		if got := batchSize(sized(test.n, test.size)); got != test.want {
			t.Errorf("%d writes of %d bytes: batch of %d, want %d", test.n, test.size, got, test.want)
		}
	}
}
