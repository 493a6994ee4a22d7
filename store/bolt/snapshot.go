// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package bolt

import (
	"strings"

	iradix "github.com/hashicorp/go-immutable-radix/v2"

	"github.com/berth-run/berth/store"
)

// tree holds the entries of one revision by key. It never changes.
type tree = iradix.Tree[store.Entry]

// snapshot is the state of the store at one revision.
type snapshot struct {
	tree     *tree
	revision int64
}

func (s *snapshot) get(key string) (store.Entry, bool) {
	return s.tree.Get([]byte(key))
}

// page returns the entries under prefix after the key after, at most limit of
// them if limit is above 0, and counts the rest.
func (s *snapshot) page(prefix, after string, limit int) store.Page {
	page := store.Page{Revision: s.revision}
	it := s.tree.Root().Iterator()
	it.SeekLowerBound([]byte(firstKey(prefix, after)))
	for {
		_, entry, ok := it.Next()
		if !ok || !strings.HasPrefix(entry.Key, prefix) {
			return page
		}
		if limit > 0 && len(page.Entries) == limit {
			page.Remaining++
			continue
		}
		page.Entries = append(page.Entries, entry)
	}
}

// firstKey is the least key that can be under prefix and beyond after.
func firstKey(prefix, after string) string {
	if after == "" {
		return prefix
	}
	return max(prefix, after+"\x00")
}
