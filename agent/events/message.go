// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package events

import (
	"strings"
	"unicode/utf8"
)

// longestMessage is in bytes; what a runtime says can be long.
const longestMessage = 1024

const ellipsis = "…"

// clean makes a message fit for the wire: valid UTF-8, cut at a rune's border.
func clean(message string) string {
	message = strings.ToValidUTF8(message, "\uFFFD")
	if len(message) <= longestMessage {
		return message
	}
	end := longestMessage - len(ellipsis)
	for !utf8.RuneStart(message[end]) {
		end--
	}
	return message[:end] + ellipsis
}
