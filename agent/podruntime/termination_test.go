// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podruntime

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

func TestTerminationMessage(t *testing.T) {
	const fallback = "FallbackToLogsOnError"
	line := func(format string, args ...any) string {
		return "2026-01-01T00:00:00Z stderr F " + fmt.Sprintf(format, args...) + "\n"
	}
	var hundred strings.Builder
	for i := range 100 {
		hundred.WriteString(line("line %d", i))
	}
	for name, tc := range map[string]struct {
		policy, file, log string
		exit              int32
		want              string
	}{
		"a file":                     {policy: "File", file: "done", log: line("log"), want: "done"},
		"an empty file":              {policy: "File", log: line("log"), exit: 1},
		"made by an older agent":     {log: line("log"), exit: 1},
		"the end of a long file":     {policy: "File", file: strings.Repeat("a", 5000) + "end", want: strings.Repeat("a", 4093) + "end"},
		"a file before the log":      {policy: fallback, file: "done", log: line("log"), exit: 1, want: "done"},
		"the log of a failure":       {policy: fallback, log: line("log"), exit: 1, want: "log\n"},
		"the log of a success":       {policy: fallback, log: line("log")},
		"the end of a long log":      {policy: fallback, log: line("%s", strings.Repeat("b", 3000)), exit: 1, want: strings.Repeat("b", 2047) + "\n"},
		"the last lines of a log":    {policy: fallback, log: hundred.String(), exit: 1, want: lastLines(20, 100)},
		"a cut character in the log": {policy: fallback, log: line("%s", "\u00e9"+strings.Repeat("b", 2046)), exit: 1, want: "\uFFFD" + strings.Repeat("b", 2046) + "\n"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			file, log := filepath.Join(dir, "file"), filepath.Join(dir, "0.log")
			write(t, file, tc.file)
			write(t, log, tc.log)
			got := terminationMessage(&runtimeapi.ContainerStatus{
				ExitCode: tc.exit, LogPath: log,
				Annotations: map[string]string{terminationMessagePathAnnotation: "/end", terminationMessagePolicyAnnotation: tc.policy},
				Mounts:      []*runtimeapi.Mount{{ContainerPath: "/end", HostPath: file}},
			})
			if got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func lastLines(from, to int) string {
	var b strings.Builder
	for i := from; i < to; i++ {
		fmt.Fprintf(&b, "line %d\n", i)
	}
	return b.String()
}

// A container may put anything where its last words are expected.
func TestTerminationMessageIsARegularFile(t *testing.T) {
	dir := t.TempDir()
	secret, link := filepath.Join(dir, "secret"), filepath.Join(dir, "link")
	write(t, secret, "secret")
	if err := os.Symlink(secret, link); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{link, dir, filepath.Join(dir, "absent")} {
		if got := readEnd(path); got != "" {
			t.Errorf("%s: %q", path, got)
		}
	}
}
