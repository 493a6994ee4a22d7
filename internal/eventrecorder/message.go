// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package eventrecorder

import (
	"hash/maphash"
	"regexp"
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

// attempt is what may differ in a message each time that the same happens: ids,
// numbers of temporary files, how long it took. Digests and tags of images, which
// follow a colon, say what it is about.
var attempt = regexp.MustCompile(`(^|[^:0-9A-Za-z])(?:[0-9a-f]{12,}|[0-9]{6,})\b|\b[0-9][0-9hms.µn]*s$`)

var seed = maphash.MakeSeed()

// gist is by what messages are compared: a hash, as many are remembered.
func gist(message string) uint64 {
	return maphash.String(seed, attempt.ReplaceAllString(message, "$1#"))
}
