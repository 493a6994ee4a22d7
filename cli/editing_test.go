// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// author writes one text after another into a draft.
type author struct {
	texts     []string
	shown     []string
	discarded bool
}

func (a *author) Edit(text string) (string, error) {
	a.shown = append(a.shown, text)
	if len(a.texts) == 0 {
		return "", errors.New("the editor failed")
	}
	next := a.texts[0]
	a.texts = a.texts[1:]
	if next == "<as shown>" {
		next = text
	}
	return next, nil
}

func (a *author) Keep() string { return "/kept" }

func (a *author) Discard() { a.discarded = true }

func TestEditing(t *testing.T) {
	invalid := &refused{errors.New("data: Invalid value")}
	for name, tc := range map[string]struct {
		texts   []string
		answers []error // of the server, per save
		saved   []string
		done    bool
		err     string
		kept    bool
	}{
		"saved":             {[]string{"a: 2\n"}, []error{nil}, []string{"a: 2\n"}, true, "", false},
		"unchanged":         {[]string{"<as shown>"}, nil, nil, false, "", false},
		"only a comment":    {[]string{"# why\na:    1\n"}, nil, nil, false, "", false},
		"emptied":           {[]string{"\n"}, nil, nil, false, "", false},
		"mended":            {[]string{"a: x\n", "a: 2\n"}, []error{invalid, nil}, []string{"a: x\n", "a: 2\n"}, true, "", false},
		"emptied at last":   {[]string{"a: x\n", ""}, []error{invalid}, []string{"a: x\n"}, false, "", false},
		"not mended":        {[]string{"a: x\n", "<as shown>"}, []error{invalid}, []string{"a: x\n"}, false, "data: Invalid value\nyour text is kept in /kept", true},
		"back as it was":    {[]string{"a: x\n", "a: 1\n"}, []error{invalid, nil}, []string{"a: x\n", "a: 1\n"}, true, "", false},
		"conflict":          {[]string{"a: 2\n"}, []error{errors.New("somebody has changed it")}, []string{"a: 2\n"}, false, "somebody has changed it\nyour text is kept in /kept", true},
		"the editor fails":  {nil, nil, nil, false, "the editor failed\nyour text is kept in /kept", true},
		"comment in a text": {[]string{"a: |\n  # new\n"}, []error{nil}, []string{"a: |\n  # new\n"}, true, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			a := &author{texts: tc.texts}
			var saved []string
			e := &editing{file: a, original: "a: 1\n", save: func(text string) error {
				saved = append(saved, text)
				return tc.answers[len(saved)-1]
			}}
			done, err := e.run()
			if done != tc.done || !slices.Equal(saved, tc.saved) || a.discarded == tc.kept {
				t.Errorf("done %v, saved %q, discarded %v", done, saved, a.discarded)
			}
			if text := message(errors.Join(err)); err != nil && text != tc.err || err == nil && tc.err != "" {
				t.Errorf("%v, want %q", err, tc.err)
			}
			if len(a.shown) > 1 && !strings.Contains(a.shown[1], "#! It was not saved:\n#! data: Invalid value\n"+tc.texts[0]) {
				t.Errorf("the second time the author sees\n%s", a.shown[1])
			}
		})
	}
}
