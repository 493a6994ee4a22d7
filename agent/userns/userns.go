// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package userns gives each pod that has users of its own a range of the node's user
// and group ids, which no other pod of the node has. The range is written in the pod's
// directory and goes with it, so an agent that starts anew finds what it gave.
package userns

import (
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-run/berth/internal/atomicfile"
)

// Length is how many ids a pod has: those from 0 in the pod, as images use them.
const Length = 1 << 16

// blocks is how many ranges there are. The first is the node's own, and the last holds
// the id that means none.
const blocks = 1 << 16

// file is the record in a pod's directory.
const file = "userns"

// Ranges is safe for concurrent use.
type Ranges struct {
	podsDir string
	mu      sync.Mutex
}

// New returns the ranges of a node with its pods' directories below podsDir.
func New(podsDir string) *Ranges { return &Ranges{podsDir: podsDir} }

// Of returns the first id of the pod's range, which it takes if the pod has none.
func (r *Ranges) Of(uid types.UID) (uint32, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	record := filepath.Join(r.podsDir, string(uid), file)
	first, err := read(record)
	if !errors.Is(err, os.ErrNotExist) {
		return first, err
	}
	taken, err := r.taken()
	if err != nil {
		return 0, err
	}
	block, ok := free(taken, preferred(r.podsDir))
	if !ok {
		return 0, errors.New("user namespaces: no range of user ids is left")
	}
	return block * Length, write(record, block*Length)
}

// taken are the blocks of all pods with a record.
func (r *Ranges) taken() (map[uint32]bool, error) {
	records, err := filepath.Glob(filepath.Join(r.podsDir, "*", file))
	if err != nil {
		return nil, fmt.Errorf("user namespaces: %w", err)
	}
	taken := make(map[uint32]bool, len(records))
	for _, record := range records {
		first, err := read(record)
		switch {
		case errors.Is(err, os.ErrNotExist): // it went just now
		case err != nil:
			return nil, err
		default:
			taken[first/Length] = true
		}
	}
	return taken, nil
}

// free looks for a block from there on, and from the first again.
func free(taken map[uint32]bool, from uint32) (uint32, bool) {
	const usable = blocks - 2
	for i := range uint32(usable) {
		if block := 1 + (from+i)%usable; !taken[block] {
			return block, true
		}
	}
	return 0, false
}

// preferred is where a node begins, so that two nodes of one machine are apart.
func preferred(podsDir string) uint32 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(podsDir)) // which cannot fail
	return h.Sum32() % blocks
}

func read(record string) (uint32, error) {
	content, err := os.ReadFile(record)
	if err != nil {
		return 0, fmt.Errorf("user namespaces: %w", err)
	}
	first, err := strconv.ParseUint(strings.TrimSpace(string(content)), 10, 32)
	if err != nil || first == 0 || first%Length != 0 {
		return 0, fmt.Errorf("user namespaces: %s: %q is not the start of a range", record, content)
	}
	return uint32(first), nil
}

// write leaves no part of a record behind.
func write(record string, first uint32) error {
	if err := os.MkdirAll(filepath.Dir(record), 0o750); err != nil {
		return fmt.Errorf("user namespaces: %w", err)
	}
	if err := atomicfile.Write(record, fmt.Appendf(nil, "%d\n", first), 0o600); err != nil {
		return fmt.Errorf("user namespaces: %w", err)
	}
	return nil
}
