// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"errors"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// scriptCommands are those that the scripts have beside testscript's own.
var scriptCommands = map[string]func(*testscript.TestScript, bool, []string){
	"exits": exits, "within": within, "looks": looks, "saw": saw,
}

// exits runs a program that must end with that code: exits CODE PROGRAM [ARG...].
func exits(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		exit := (*exec.ExitError)(nil)
		if !errors.As(err, &exit) {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// within runs a program that must not take longer: within TIME PROGRAM [ARG...].
func within(ts *testscript.TestScript, neg bool, args []string) {
	limit, err := time.ParseDuration(args[0])
	ts.Check(err)
	began := time.Now()
	err = ts.Exec(args[1], args[2:]...)
	if took := time.Since(began); took > limit {
		ts.Fatalf("%s took %s", args[1], took)
	}
	if neg != (err != nil) {
		ts.Fatalf("%s: %v", args[1], err)
	}
}

// sawTimeout is how long saw waits.
const sawTimeout = 30 * time.Second

// saw waits until a file has a match of a pattern: saw FILE PATTERN. A program in the
// background, such as a watch, writes it.
func saw(ts *testscript.TestScript, _ bool, args []string) {
	want := regexp.MustCompile("(?m)" + args[1])
	for deadline := time.Now().Add(sawTimeout); ; time.Sleep(20 * time.Millisecond) {
		content, err := os.ReadFile(ts.MkAbs(args[0]))
		if err == nil && want.Match(content) {
			return
		}
		if time.Now().After(deadline) {
			ts.Fatalf("no %q in %s:\n%s", args[1], args[0], content)
		}
	}
}

// looks compares what was printed with a file: looks stdout|stderr|FILE FILE. In the
// second, {age}, {ip} and {any} stand for what changes from run to run, and a line
// of ... for any lines. How wide columns are is kubectl's.
func looks(ts *testscript.TestScript, neg bool, args []string) {
	got, want := ts.ReadFile(args[0]), os.Expand(ts.ReadFile(args[1]), ts.Getenv)
	if looksLike(got, want) == neg {
		ts.Fatalf("%s:\n%s\nwant it to look as %s:\n%s", args[0], got, args[1], want)
	}
}

var (
	gaps = regexp.MustCompile(`[ \t]{2,}`)
	ends = regexp.MustCompile(`(?m)[ \t]+$`)

	standIns = strings.NewReplacer(
		`\{age\}`, `\d+[smhd](\d+[smhd])?`,
		`\{ip\}`, `\d+(\.\d+){3}`,
		`\{any\}`, `.*`,
		"\n\\.\\.\\.\n", "\n(.*\n)*?",
	)
)

func looksLike(got, want string) bool {
	pattern := standIns.Replace(regexp.QuoteMeta("\n" + narrow(want)))
	return regexp.MustCompile(`\A` + pattern + `\z`).MatchString("\n" + narrow(got))
}

// narrow makes all columns two spaces apart.
func narrow(text string) string { return gaps.ReplaceAllString(ends.ReplaceAllString(text, ""), "  ") }

func TestLooksLike(t *testing.T) {
	want := "NAME   AGE\nweb    {age}\n...\nend\n"
	for got, ok := range map[string]bool{
		"NAME  AGE\nweb  3m20s\nend\n":             true,
		"NAME      AGE\nweb       5s\na\nb\nend\n": true,
		"NAME  AGE\nweb  now\nend\n":               false,
		"NAME  AGE\nweb  3s\n":                     false,
	} {
		if looksLike(got, want) != ok {
			t.Errorf("%q looks as wanted: %v", got, !ok)
		}
	}
}
