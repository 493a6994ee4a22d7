// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podruntime

import "strings"

// expand replaces each $(NAME) by the variable of that name. $$ is a literal $, so
// $$(NAME) is not replaced; a reference to an unknown variable stays as it is. It
// returns false, and has built no more, if the outcome would be longer than room.
func expand(s string, vars map[string]string, room int) (string, bool) {
	var out strings.Builder
	write := func(text string) bool {
		fits := out.Len()+len(text) <= room
		if fits {
			out.WriteString(text)
		}
		return fits
	}
	for {
		before, rest, found := strings.Cut(s, "$")
		if !write(before) {
			return "", false
		}
		if !found {
			return out.String(), true
		}
		text, length := expandOne(rest, vars)
		if !write(text) {
			return "", false
		}
		s = rest[length:]
	}
}

// expandOne reads what follows a $ and returns what both stand for, and how much
// of rest that took.
func expandOne(rest string, vars map[string]string) (text string, length int) {
	switch {
	case strings.HasPrefix(rest, "$"):
		return "$", 1
	case strings.HasPrefix(rest, "("):
		end := strings.IndexByte(rest, ')')
		if end < 0 {
			return "$", 0
		}
		if value, ok := vars[rest[1:end]]; ok {
			return value, end + 1
		}
		return "$" + rest[:end+1], end + 1
	}
	return "$", 0
}
