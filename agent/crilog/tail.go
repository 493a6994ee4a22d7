// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package crilog

import (
	"bytes"
	"io"
)

// tailBlock is how much of a file is read at a time on the way back.
const tailBlock = 16 << 10

// SeekTail sets f where its last n lines begin. The parts of a long line count
// as one.
func SeekTail(f io.ReadSeeker, n int64) error {
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	start, err := tailStart(f, size, n)
	if err != nil {
		return err
	}
	_, err = f.Seek(start, io.SeekStart)
	return err
}

// tailStart returns where the last n lines of the first size bytes begin. It
// walks back from the end, record by record, until it meets the record that ends
// the line before them.
func tailStart(f io.ReadSeeker, size, n int64) (int64, error) {
	if n == 0 {
		return size, nil
	}
	b := backward{f: f, at: size}
	lines, start := int64(0), size
	for first := true; ; first = false {
		line, at, err := b.prev()
		if err == io.EOF {
			return 0, nil
		}
		if err != nil {
			return 0, err
		}
		// The newest record ends a line even if it is a part: no more is there.
		if first || !Parse(line).Partial {
			if lines == n {
				return start, nil
			}
			lines++
		}
		start = at
	}
}

// backward reads the lines of a file from its end to its beginning.
type backward struct {
	f io.ReadSeeker
	// buf holds the bytes of f from at on that were not returned yet.
	buf []byte
	at  int64
}

// prev returns the line before the last one, without its newline, and where it
// begins; io.EOF before the first.
func (b *backward) prev() (line []byte, at int64, err error) {
	for {
		body := bytes.TrimSuffix(b.buf, []byte("\n"))
		if i := bytes.LastIndexByte(body, '\n'); i >= 0 {
			line, b.buf = body[i+1:], b.buf[:i+1]
			return line, b.at + int64(i) + 1, nil
		}
		if b.at == 0 {
			if len(b.buf) == 0 {
				return nil, 0, io.EOF
			}
			b.buf = nil
			return body, 0, nil
		}
		if err := b.fill(); err != nil {
			return nil, 0, err
		}
	}
}

func (b *backward) fill() error {
	n := min(int64(tailBlock), b.at)
	if _, err := b.f.Seek(b.at-n, io.SeekStart); err != nil {
		return err
	}
	block := make([]byte, n, n+int64(len(b.buf)))
	if _, err := io.ReadFull(b.f, block); err != nil {
		return err
	}
	b.buf, b.at = append(block, b.buf...), b.at-n
	return nil
}
