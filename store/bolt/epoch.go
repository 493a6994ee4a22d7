// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package bolt

import (
	"crypto/rand"
	"fmt"
	"sort"
	"strings"

	bbolt "go.etcd.io/bbolt"
)

const (
	// maxRevision is the largest integer that JSON numbers hold exactly.
	maxRevision = 1<<53 - 1
	// epochJump is the least distance between two epochs, and the least bound of
	// the random part that is added.
	epochJump = 1 << 20
	// epochShare bounds the random part by what is left of all revisions: a
	// share of it that small is large enough for copies to miss each other, and
	// lasts for hundreds of thousands of openings.
	epochShare = 1 << 15
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

// epochAfter returns the epoch that an Open at this head begins. random returns a
// number below its argument.
//
// Two copies of a file that are opened at one head, and then written w and v times,
// have a revision in common with a probability of (w+v)/spread.
func epochAfter(head int64, random func(int64) int64) (epoch, error) {
	spread := epochSpread(head)
	if head > maxRevision-epochJump-spread {
		return epoch{}, fmt.Errorf("revisions are used up at %d: copy the objects into a new store", head)
	}
	return epoch{id: randomID(), first: head + epochJump + random(spread), previous: head}, nil
}

// epochSpread bounds the random part of the jump from this head.
func epochSpread(head int64) int64 { return max(epochJump, (maxRevision-head)/epochShare) }

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
