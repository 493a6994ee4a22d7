// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"berth": main})
}

// TestScripts runs testdata/*.txtar: what users type and what they see. Each
// script starts its own server on $BERTH_SERVER and $HTTP.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Setup: func(env *testscript.Env) error {
			env.Setenv("BERTH_SERVER", freeAddress(t))
			env.Setenv("HTTP", freeAddress(t))
			// A program under the race detector waits a second before it exits.
			env.Setenv("GORACE", "atexit_sleep_ms=0")
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"waitfor": waitFor, "put": put, "exitcode": exitCode,
		},
	})
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// waitFor waits until an address is served.
func waitFor(ts *testscript.TestScript, _ bool, args []string) {
	deadline := time.Now().Add(10 * time.Second)
	for _, address := range args {
		for {
			conn, err := net.DialTimeout("tcp", address, time.Second)
			if err == nil {
				conn.Close()
				break
			}
			if time.Now().After(deadline) {
				ts.Fatalf("%v", fmt.Errorf("nothing listens on %s: %w", address, err))
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
}

// put sends a file with PUT to a path of the server: put PATH FILE. Scripts play the
// agent with it.
func put(ts *testscript.TestScript, _ bool, args []string) {
	body := bytes.NewBufferString(ts.ReadFile(args[1]))
	request, err := http.NewRequest(http.MethodPut, "http://"+ts.Getenv("HTTP")+args[0], body)
	ts.Check(err)
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	ts.Check(err)
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	ts.Check(err)
	if response.StatusCode != http.StatusOK {
		ts.Fatalf("PUT %s: %s: %s", args[0], response.Status, answer)
	}
}

// exitCode runs a program that must end with that exit code: exitcode CODE PROGRAM...
func exitCode(ts *testscript.TestScript, _ bool, args []string) {
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
