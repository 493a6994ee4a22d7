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

	v1 "github.com/google/go-containerregistry/pkg/v1"

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

// newRegistry serves app:1 and app:2, which wait for SIGTERM unless told
// otherwise, nginx:1.14.2, which serves a page on port 80, busybox:1, and
// busybox:app, which does not run as root. What is in library/ is for manifests
// that name images without a registry.
func newRegistry(s *harness.Suite) (*testimage.Registry, error) {
	program, err := testimage.Build(s.Root, s.Dir)
	if err != nil {
		return nil, err
	}
	r := testimage.NewRegistry()
	for _, i := range []struct {
		path, version string
		args          []string
	}{
		{"app:1", "1", []string{"sleep"}},
		{"app:2", "2", []string{"sleep"}},
		{"library/app:1", "1", []string{"sleep"}},
		{"library/app:2", "2", []string{"sleep"}},
		{"private:1", "1", []string{"sleep"}},
		{"slow:1", "slow", []string{"sleep"}},
		{"library/nginx:1.14.2", "1.14.2", []string{"serve", "80"}},
	} {
		var image v1.Image
		if image, err = testimage.New(program, i.version, i.args...); err == nil {
			err = r.Push(i.path, image)
		}
		if err != nil {
			r.Close()
			return nil, err
		}
	}
	if err := pushBusybox(r); err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

func pushBusybox(r *testimage.Registry) error {
	for path, user := range map[string]string{"busybox:1": "", "library/busybox:1": "", "library/busybox:1.28": "", "busybox:app": "app"} {
		image, err := testimage.Busybox(user)
		if err == nil {
			err = r.Push(path, image)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// mirrorAll makes the nodes of a cluster fetch images from the test's registry.
func mirrorAll(c *harness.Cluster) error {
	for _, n := range c.Nodes {
		if err := mirror(n); err != nil {
			return err
		}
	}
	return nil
}

func mirror(n *harness.Node) error {
	return errors.Join(
		testimage.Mirror(n.CertsDir(), registry.Host(), registry.Host()),
		testimage.Mirror(n.CertsDir(), "docker.io", registry.Host()))
}

func logTails(c *harness.Cluster) error {
	const bytes = 4000
	errs := []error{fmt.Errorf("server log:\n%s", c.Server.Tail(bytes))}
	for _, n := range c.Nodes {
		errs = append(errs, fmt.Errorf("%s log:\n%s", n.Name, n.Tail(bytes)))
	}
	return errors.Join(errs...)
}
