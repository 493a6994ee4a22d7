// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podtypes

import (
	"errors"
	"fmt"
)

// ErrTimedOut is what a command in a container ends with, wrapped, that was stopped
// because its time was over.
var ErrTimedOut = errors.New("command timed out")

// ExitError is how a command in a container ended that did not succeed.
type ExitError struct{ Code int32 }

func (e *ExitError) Error() string { return fmt.Sprintf("exited with %d", e.Code) }
