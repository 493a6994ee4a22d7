// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podruntime

import "fmt"

const (
	// maxString is how long one argument, or variable with its name, may be for the
	// kernel to start a program with it: MAX_ARG_STRLEN, with pages of 4 KiB.
	maxString = 128 << 10
	// maxStrings is half of what the kernel takes of all of them together, at the usual
	// stack limit of 8 MiB. The rest is for what the image adds.
	maxStrings = 1 << 20
)

// execSize is how much of what the kernel takes a container's variables and
// arguments need. Without it a few variables, each of which names the one before it
// twice, would be as large as the machine's memory.
type execSize int

// room is how long the next string may be.
func (e execSize) room() int { return min(maxString, maxStrings-int(e)) }

// add counts a string, or says that there is no room for it.
func (e *execSize) add(length int) error {
	if length > e.room() {
		return e.full()
	}
	*e += execSize(length)
	return nil
}

// full names the limit that the next string is beyond.
func (e execSize) full() error {
	if e.room() == maxString {
		return fmt.Errorf("longer than %d KiB, the most that Linux takes of one variable or argument", maxString>>10)
	}
	return fmt.Errorf("too long: with it, variables and arguments are larger than %d KiB", maxStrings>>10)
}

// expand is expand within the room there is for a string of which so many bytes are
// taken already, its terminating zero included.
func (e *execSize) expand(s string, vars map[string]string, taken int) (string, error) {
	value, ok := expand(s, vars, e.room()-taken)
	if !ok {
		return "", e.full()
	}
	return value, e.add(taken + len(value))
}

// expandAll expands the arguments of a container's field.
func (e *execSize) expandAll(field string, all []string, vars map[string]string) ([]string, error) {
	var out []string
	for i, s := range all {
		value, err := e.expand(s, vars, 1)
		if err != nil {
			return nil, fmt.Errorf("%s[%d]: %w", field, i, err)
		}
		out = append(out, value)
	}
	return out, nil
}
