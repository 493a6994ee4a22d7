// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestEntries(t *testing.T) {
	two, empty := "2", ""
	for name, tc := range map[string]struct {
		args      string
		overwrite bool
		want      map[string]*string
		err       string
	}{
		"new":               {"pod p b=2", false, map[string]*string{"b": &two}, ""},
		"empty value":       {"pod p b=", false, map[string]*string{"b": &empty}, ""},
		"removed":           {"pod p a-", false, map[string]*string{"a": nil}, ""},
		"removed, absent":   {"pod p b-", false, map[string]*string{}, ""},
		"so already":        {"pod p a=1", false, map[string]*string{}, ""},
		"other value":       {"pod p a=2", false, nil, `a is "1" already`},
		"overwritten":       {"pod p a=2", true, map[string]*string{"a": &two}, ""},
		"none":              {"pod p", false, nil, "say what to set"},
		"no key":            {"pod p =2", false, nil, "must be KEY=VALUE or KEY-"},
		"object at the end": {"pod a=2 p", false, nil, "must be KEY=VALUE or KEY-"},
		"twice":             {"pod p b=2 b-", false, nil, "is given twice"},
	} {
		_, entries, err := splitEntries(strings.Fields(tc.args))
		var got map[string]*string
		if err == nil {
			got, err = newEntries(map[string]string{"a": "1"}, entries, tc.overwrite)
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if tc.err == "" && err != nil || tc.err != "" && (err == nil || !strings.Contains(err.Error(), tc.err)) {
			t.Errorf("%s: %v; want %q", name, err, tc.err)
		}
	}
}
