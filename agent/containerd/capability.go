// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package containerd

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// hasCapability tells whether the effective set in a /proc/<pid>/status file holds
// the capability. Without CAP_SYS_RESOURCE a process cannot lower an OOM score,
// and containerd must not try to.
func hasCapability(statusFile string, capability int) (bool, error) {
	status, err := os.ReadFile(statusFile)
	if err != nil {
		return false, err
	}
	for line := range strings.Lines(string(status)) {
		hex, ok := strings.CutPrefix(line, "CapEff:")
		if !ok {
			continue
		}
		set, err := strconv.ParseUint(strings.TrimSpace(hex), 16, 64)
		if err != nil {
			return false, fmt.Errorf("%s: CapEff: %w", statusFile, err)
		}
		return set&(1<<capability) != 0, nil
	}
	return false, fmt.Errorf("%s: no CapEff line", statusFile)
}
