// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podworkers

import (
	"slices"
)

// nameOrder holds, by full name, the workers that are not Finished, in the order
// of their arrival. The first of a name may start; the others wait for it.
type nameOrder map[string][]*worker

func (n nameOrder) add(w *worker) { n[w.fullName] = append(n[w.fullName], w) }

// first tells whether no earlier pod of the name is left.
func (n nameOrder) first(w *worker) bool {
	list := n[w.fullName]
	return len(list) > 0 && list[0] == w
}

// remove takes a worker out and returns the one whose turn it is now, or nil.
func (n nameOrder) remove(w *worker) *worker {
	list := slices.DeleteFunc(n[w.fullName], func(o *worker) bool { return o == w })
	if len(list) == 0 {
		delete(n, w.fullName)
		return nil
	}
	n[w.fullName] = list
	return list[0]
}
