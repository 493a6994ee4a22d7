// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"fmt"
	"strings"

	"sigs.k8s.io/yaml"
)

// refused is an error of a text that its author can mend.
type refused struct{ err error }

func (r *refused) Error() string { return message(r.err) }

func (r *refused) Unwrap() error { return r.err }

// draft is where a text lies while it is edited.
type draft interface {
	// Edit shows a text to its author and returns what has become of it.
	Edit(text string) (string, error)
	// Keep says where the text lies from now on, if it has ever been anywhere; else it
	// goes with Discard.
	Keep() string
	Discard()
}

// editing is an edit of a text until it is saved, or given up.
type editing struct {
	file     draft
	original string
	// save stores a text; a *refused error says what to mend in it.
	save func(text string) error
}

// run has the author edit until the text can be saved, is as it was, or cannot be
// saved by mending it. What the author wrote is not lost then.
func (e *editing) run() (saved bool, err error) {
	text, reason := e.original, ""
	for {
		edited, err := e.file.Edit(header(reason) + text)
		if err != nil {
			return false, e.kept(err)
		}
		edited = withoutHeader(edited)
		switch {
		case reason == "" && meaning(edited) == meaning(e.original), meaning(edited) == "":
			e.file.Discard()
			return false, nil
		case reason != "" && edited == text:
			return false, e.kept(errors.New(reason))
		}
		text = edited
		err = e.save(text)
		if err == nil {
			e.file.Discard()
			return true, nil
		}
		if !errors.As(err, new(*refused)) {
			return false, e.kept(err)
		}
		reason = err.Error()
	}
}

func (e *editing) kept(err error) error {
	path := e.file.Keep()
	if path == "" {
		return err
	}
	return fmt.Errorf("%s\nyour text is kept in %s", message(err), path)
}

const (
	headerMark = "#! "
	intro      = "Edit the object below, then save and leave the editor. An empty file changes nothing."
)

// header tells the author what to do, and what was wrong with the text so far.
func header(reason string) string {
	lines := []string{intro}
	if reason != "" {
		lines = append(lines, "", "It was not saved:")
		lines = append(lines, strings.Split(reason, "\n")...)
	}
	return headerMark + strings.Join(lines, "\n"+headerMark) + "\n"
}

func withoutHeader(text string) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, strings.TrimSpace(headerMark)) {
			out.WriteString(line)
		}
	}
	return out.String()
}

// meaning is what a YAML text says, whatever its comments and layout; that of a text
// that is not YAML is itself.
func meaning(text string) string {
	json, err := yaml.YAMLToJSON([]byte(text))
	switch {
	case err != nil:
		return text
	case string(json) == "null":
		return ""
	}
	return string(json)
}
