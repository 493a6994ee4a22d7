// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package e2e tests berth from outside: with HTTP, gRPC and the command line, on
// real processes and a real containerd. Tests that kill nothing share one cluster.
package e2e

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/berth-run/berth/test/internal/harness"
	"github.com/berth-run/berth/test/internal/testimage"
)

// What TestMain makes for all tests.
var (
	suite    *harness.Suite
	registry *testimage.Registry
	cluster  *harness.Cluster
)

// soak makes the tests run as many rounds as their cases name.
var soak = os.Getenv("BERTH_SOAK") != ""

// startTimeout is for a server, two containerds and two agents on a busy machine.
const startTimeout = 60 * time.Second

// waiting is how many tests run at once: much of their time they wait, but some keep
// a node busy all by themselves.
const waiting = "4"

func TestMain(m *testing.M) {
	if why := harness.Missing(); why != "" {
		fmt.Fprintln(os.Stderr, "the end-to-end tests cannot run:", why)
		if os.Getenv("CI") == "true" {
			os.Exit(1)
		}
		os.Exit(0)
	}
	flag.Parse()
	if f := flag.Lookup("test.parallel"); f.Value.String() == f.DefValue {
		_ = f.Value.Set(waiting)
	}
	os.Exit(run(m))
}

func run(m *testing.M) (code int) {
	defer func() {
		if err := tearDown(); err != nil {
			fmt.Fprintln(os.Stderr, "tear down:", err)
			code = 1
		}
	}()
	if err := setUp(); err != nil {
		fmt.Fprintln(os.Stderr, "set up:", err)
		return 1
	}
	return m.Run()
}

func setUp() (err error) {
	if suite, err = harness.NewSuite(); err != nil {
		return err
	}
	if registry, err = newRegistry(suite); err != nil {
		return err
	}
	if cluster, err = suite.NewCluster(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	if err := cluster.Start(ctx, 2); err != nil {
		return errors.Join(err, logTails(cluster))
	}
	return mirrorAll(cluster)
}

func tearDown() error {
	var errs []error
	if cluster != nil {
		errs = append(errs, cluster.Close())
	}
	if registry != nil {
		registry.Close()
	}
	if suite != nil {
		errs = append(errs, suite.Close())
	}
	return errors.Join(errs...)
}

func logTails(c *harness.Cluster) error {
	const bytes = 4000
	errs := []error{fmt.Errorf("server log:\n%s", c.Server.Tail(bytes))}
	for _, n := range c.Nodes {
		errs = append(errs, fmt.Errorf("%s log:\n%s", n.Name, n.Tail(bytes)))
	}
	return errors.Join(errs...)
}
