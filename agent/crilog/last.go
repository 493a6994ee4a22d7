// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package crilog

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
)

// Last returns the end of a log: of its last lines, no more than the last bytes.
func Last(path string, lines, bytes int) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	if err := SeekTail(f, int64(lines)); err != nil {
		return "", fmt.Errorf("log %s: %w", path, err)
	}
	end, err := lastText(f, bytes)
	if err != nil {
		return "", fmt.Errorf("log %s: %w", path, err)
	}
	return end, nil
}

// lastText keeps no more than it returns, and a line.
func lastText(f io.Reader, limit int) (string, error) {
	var end []byte
	for r := bufio.NewReader(f); ; {
		line, err := r.ReadBytes('\n')
		if len(line) > 0 {
			end = appendText(end, line)
			end = end[max(0, len(end)-limit):]
		}
		if errors.Is(err, io.EOF) {
			return string(end), nil
		}
		if err != nil {
			return "", err
		}
	}
}

func appendText(end, line []byte) []byte {
	complete := line[len(line)-1] == '\n'
	if complete {
		line = line[:len(line)-1]
	}
	record := Parse(line)
	end = append(end, record.Text...)
	if complete && !record.Partial {
		end = append(end, '\n')
	}
	return end
}
