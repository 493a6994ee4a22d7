// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package containerd

import (
	"fmt"
	"io"
	"log"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/random"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// A hosts.toml in certs.d redirects a registry without a restart.
func TestPullThroughHostsFile(t *testing.T) {
	n := newTestNode(t)
	stop := n.supervise(n.Runtime)
	t.Cleanup(stop)
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(server.Close)
	push(t, strings.TrimPrefix(server.URL, "http://")+"/team/app:1")
	hosts := filepath.Join(n.cfg.Dir, "certs.d", "registry.test")
	if err := os.MkdirAll(hosts, 0o755); err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf("server = %q\n", server.URL)
	if err := os.WriteFile(filepath.Join(hosts, "hosts.toml"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	reply, err := runtimeapi.NewImageServiceClient(n.conn).PullImage(t.Context(), &runtimeapi.PullImageRequest{
		Image: &runtimeapi.ImageSpec{Image: "registry.test/team/app:1"},
	})
	if err != nil || !strings.HasPrefix(reply.GetImageRef(), "sha256:") {
		t.Errorf("PullImage = %v, %v", reply, err)
	}
}

// push makes an image with the name.
func push(t *testing.T, target string) {
	t.Helper()
	pushSized(t, target, 512)
}

// pushSized makes an image of two layers of so many random bytes.
func pushSized(t *testing.T, target string, size int64) {
	t.Helper()
	ref, err := name.ParseReference(target)
	if err != nil {
		t.Fatal(err)
	}
	image, err := random.Image(size, 2)
	if err != nil {
		t.Fatal(err)
	}
	if err := remote.Write(ref, image); err != nil {
		t.Fatal(err)
	}
}
