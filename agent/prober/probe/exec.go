// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"errors"
	"strings"

	"github.com/berth-run/berth/agent/podtypes"
)

// OfExec is what a command in the container means that said this and ended so.
func OfExec(output string, err error) Outcome {
	output = strings.ToValidUTF8(output[:min(len(output), maxOutput)], "\uFFFD")
	var exit *podtypes.ExitError
	switch {
	case err == nil:
		return success(output)
	case errors.As(err, &exit):
		return failure(output)
	case errors.Is(err, podtypes.ErrTimedOut):
		return failure(err.Error())
	}
	return unknown(err)
}
