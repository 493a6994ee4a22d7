// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package bolt

import (
	"crypto/rand"
	"fmt"
	mathrand "math/rand/v2"
	"sort"
	"strings"

	bbolt "go.etcd.io/bbolt"
)

const (
	// maxRevision is the largest integer that JSON numbers hold exactly.
	maxRevision = 1<<53 - 1
	// epochJump is the least distance between two epochs. A random part below
	// it is added.
	epochJump = 1 << 20
	// keepEpochs bounds the number of epoch records, against a server that
	// restarts in a loop.
	keepEpochs = 256
)

// epoch is the time between one Open and the next.
type epoch struct {
	id string
	// first revision of the epoch: that of the opening itself.
	first int64
	// previous is the head at which the epoch before ended.
	previous int64
}

// epochs is ordered by first.
type epochs []epoch

// assigned reports whether a store with these epochs and this head ever had
// revision as its head.
func (e epochs) assigned(revision, head int64) bool {
	next := sort.Search(len(e), func(i int) bool { return e[i].first > revision })
	if next == 0 {
		return false
	}
	end := head
	if next < len(e) {
		end = e[next].previous
	}
	return revision <= end
}

// forgettable is the number of leading epochs that nobody can resume into: they
// ended at or below the floor, or there are more than keepEpochs.
func (e epochs) forgettable(floor int64) int {
	n := max(0, len(e)-keepEpochs)
	for n+1 < len(e) && e[n+1].first <= floor {
		n++
	}
	return n
}

// after returns the epoch that an Open at this head begins.
func epochAfter(head int64) (epoch, error) {
	first := head + epochJump + mathrand.Int64N(epochJump)
	if first >= maxRevision {
		return epoch{}, fmt.Errorf("revisions are used up at %d: copy the objects into a new store", head)
	}
	return epoch{id: randomID(), first: first, previous: head}, nil
}

// randomID returns 80 random bits as text.
func randomID() string {
	return strings.ToLower(rand.Text()[:16])
}

func (e epoch) put(tx *bbolt.Tx) error {
	return tx.Bucket(bucketEpochs).Put(encodeRevision(e.first), append(encodeRevision(e.previous), e.id...))
}

func readEpochs(tx *bbolt.Tx) (epochs, error) {
	var all epochs
	err := tx.Bucket(bucketEpochs).ForEach(func(k, v []byte) error {
		first, err := decodeRevision(k)
		if err != nil || len(v) < revisionSize {
			return fmt.Errorf("epoch %x: %w", k, errDamaged)
		}
		previous, err := decodeRevision(v[:revisionSize])
		all = append(all, epoch{id: string(v[revisionSize:]), first: first, previous: previous})
		return err
	})
	return all, err
}
