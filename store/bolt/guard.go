// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package bolt

import (
	"fmt"
	"runtime/debug"
)

// guard runs f and turns its panics into errors. bbolt panics on a page that
// makes no sense, and reading a part of the file that the disk cannot deliver
// faults: neither may take the server down.
func guard(f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %v", errDamaged, p)
		}
	}()
	return f()
}
