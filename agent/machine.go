// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"fmt"
	"os"
	"strings"

	"github.com/berth-run/berth/agent/admission"
)

// readMachine finds what the node's machine does for pods, and what its owner allows them.
func (a *Agent) readMachine() (admission.Machine, error) {
	sysctls, err := admission.NewSysctls(a.cfg.AllowedUnsafeSysctls)
	if err != nil {
		return admission.Machine{}, fmt.Errorf("allowed unsafe sysctls: %w", err)
	}
	return admission.Machine{AppArmor: hasAppArmor(), Sysctls: sysctls}, nil
}

// hasAppArmor tells whether the kernel enforces AppArmor's profiles.
func hasAppArmor() bool {
	enabled, err := os.ReadFile("/sys/module/apparmor/parameters/enabled")
	return err == nil && strings.HasPrefix(string(enabled), "Y")
}
