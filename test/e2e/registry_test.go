// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"errors"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/berth-run/berth/test/internal/harness"
	"github.com/berth-run/berth/test/internal/testimage"
)

// newRegistry serves app:1 and app:2, which wait for SIGTERM unless told
// otherwise, nginx:1.14.2 and web:1, which serve a page on port 80, busybox:1, and
// busybox:app, which does not run as root. What is in library/ is for manifests
// that name images without a registry; what is in e2e-test-images/ stands in for
// Kubernetes' own.
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
		{"web:1", "web", []string{"serve", "80"}},
		{"team/app:1", "team", []string{"sleep"}},
		{"e2e-test-images/agnhost:2.53", "2.53", []string{"sleep"}},
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
	for path, user := range map[string]string{
		"busybox:1": "", "library/busybox:1": "", "library/busybox:1.36": "", "busybox:app": "app",
	} {
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

// upstreams are the registries that the test's one stands in for.
func upstreams() []string {
	return []string{registry.Host(), "docker.io", "registry.k8s.io", "berth.run"}
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
	var errs []error
	for _, upstream := range upstreams() {
		errs = append(errs, testimage.Mirror(n.CertsDir(), upstream, registry.Host()))
	}
	return errors.Join(errs...)
}
