// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package describe

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// sizes shows how long values are, and never the values: they are secret, or no text.
func (p *page) sizes(label string, data map[string][]byte) {
	if len(data) == 0 {
		p.field(label, none)
		return
	}
	p.section(label, func() {
		for _, key := range slices.Sorted(maps.Keys(data)) {
			p.field(key, fmt.Sprintf("%d bytes", len(data[key])))
		}
	})
}

// texts shows whole values, each below its key.
func (p *page) texts(label string, data map[string]string) {
	if len(data) == 0 {
		p.field(label, none)
		return
	}
	p.section(label, func() {
		for _, key := range slices.Sorted(maps.Keys(data)) {
			p.section(key, func() {
				for line := range strings.SplitSeq(strings.TrimSuffix(data[key], "\n"), "\n") {
					p.row(line)
				}
			})
		}
	})
}
