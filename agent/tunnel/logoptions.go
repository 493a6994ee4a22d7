// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package tunnel

import (
	"fmt"
	"math"
	"net/url"
	"strconv"
	"time"
)

// logOptions says what of a log is wanted, and in which form.
type logOptions struct {
	follow     bool
	timestamps bool
	// attempt is the one whose log is wanted, or newest.
	attempt int64
	// tail is the number of lines from the end, or all.
	tail int64
	// since leaves out older lines; the zero time leaves out none.
	since time.Time
	// limit is the number of bytes to write at most, or all.
	limit int64
}

// all is the number for no bound, newest that for no certain attempt: both are
// what a number is that is not given.
const (
	all    = math.MaxInt64
	newest = all
)

// parseOptions reads the query of a log request that came at the time now.
func parseOptions(q url.Values, now time.Time) (logOptions, error) {
	p := queryParser{query: q}
	o := logOptions{
		follow:     p.bool("follow"),
		timestamps: p.bool("timestamps"),
		attempt:    p.int("attempt"),
		tail:       p.int("tailLines"),
		since:      p.time("sinceTime"),
		limit:      p.int("limitBytes"),
	}
	if seconds := p.int("sinceSeconds"); seconds < int64(math.MaxInt64/time.Second) {
		o.since = now.Add(-time.Duration(seconds) * time.Second)
	}
	return o, p.err
}

// queryParser keeps the first error of its calls.
type queryParser struct {
	query url.Values
	err   error
}

func (p *queryParser) bool(name string) bool {
	text := p.query.Get(name)
	if text == "" {
		return false
	}
	v, err := strconv.ParseBool(text)
	p.note(name, text, err)
	return v
}

// int returns all for a number that is not given.
func (p *queryParser) int(name string) int64 {
	text := p.query.Get(name)
	if text == "" {
		return all
	}
	v, err := strconv.ParseInt(text, 10, 64)
	if err == nil && v < 0 {
		err = strconv.ErrRange
	}
	p.note(name, text, err)
	return v
}

func (p *queryParser) time(name string) time.Time {
	text := p.query.Get(name)
	if text == "" {
		return time.Time{}
	}
	v, err := time.Parse(time.RFC3339Nano, text)
	p.note(name, text, err)
	return v
}

func (p *queryParser) note(name, text string, err error) {
	if err != nil && p.err == nil {
		p.err = fmt.Errorf("%s: invalid value %q", name, text)
	}
}
