// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"net"
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
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"waitfor": waitFor},
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
