// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package informers tests what every controller stands on: client-go's shared
// informers end equal to the store, though the server is killed under them again
// and again while objects of all kinds are written.
package informers

import (
	"fmt"
	"os"
	"testing"

	"github.com/berth-run/berth/test/internal/harness"
)

var suite *harness.Suite

func TestMain(m *testing.M) {
	var err error
	if suite, err = harness.NewSuite(); err != nil {
		fmt.Fprintln(os.Stderr, "set up:", err)
		os.Exit(1)
	}
	code := m.Run()
	if err := suite.Close(); err != nil {
		fmt.Fprintln(os.Stderr, "tear down:", err)
		code = 1
	}
	os.Exit(code)
}
