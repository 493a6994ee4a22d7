// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package crilog

import (
	"os"
	"path/filepath"
	"testing"
)

func TestLast(t *testing.T) {
	const stamp = "2026-01-01T00:00:00Z "
	for name, tc := range map[string]struct {
		log          string
		lines, bytes int
		want         string
	}{
		"empty":           {lines: 2, bytes: 9},
		"all":             {log: stamp + "stdout F a\n" + stamp + "stderr F b\n", lines: 2, bytes: 9, want: "a\nb\n"},
		"the last lines":  {log: stamp + "stdout F a\n" + stamp + "stderr F b\n", lines: 1, bytes: 9, want: "b\n"},
		"the last bytes":  {log: stamp + "stdout F abc\n" + stamp + "stderr F def\n", lines: 9, bytes: 6, want: "c\ndef\n"},
		"parts of a line": {log: stamp + "stdout F x\n" + stamp + "stdout P a\n" + stamp + "stdout F b\n", lines: 1, bytes: 9, want: "ab\n"},
		"cut off":         {log: stamp + "stdout F a\n" + stamp + "stdout P b", lines: 2, bytes: 9, want: "a\nb"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "0.log")
			if err := os.WriteFile(path, []byte(tc.log), 0o600); err != nil {
				t.Fatal(err)
			}
			if got, err := Last(path, tc.lines, tc.bytes); err != nil || got != tc.want {
				t.Errorf("got %q, %v, want %q", got, err, tc.want)
			}
		})
	}
	if _, err := Last(filepath.Join(t.TempDir(), "0.log"), 1, 1); !os.IsNotExist(err) {
		t.Errorf("of no log: %v", err)
	}
}
