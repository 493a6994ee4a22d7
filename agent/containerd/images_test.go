// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package containerd

import (
	"bytes"
	"crypto/rand"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	contentapi "github.com/containerd/containerd/api/services/content/v1"
	leasesapi "github.com/containerd/containerd/api/services/leases/v1"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// acknowledged is a content store's write call that takes everything.
type acknowledged struct {
	contentStream
	requests []*contentapi.WriteContentRequest
}

func (s *acknowledged) Send(r *contentapi.WriteContentRequest) error {
	s.requests = append(s.requests, proto.Clone(r).(*contentapi.WriteContentRequest))
	return nil
}

func (s *acknowledged) Recv() (*contentapi.WriteContentResponse, error) { return nil, nil }

func TestSendBlobInChunks(t *testing.T) {
	for _, size := range []int{0, 1, blobChunk - 1, blobChunk, blobChunk + 1, 3 * blobChunk} {
		content := randomBytes(t, size)
		var stream acknowledged
		b := blob{Descriptor: describe(ocispec.MediaTypeImageLayer, content), content: bytes.NewReader(content)}
		if err := sendBlob(&stream, b, nil); err != nil {
			t.Fatalf("%d bytes: %v", size, err)
		}
		var got []byte
		for i, r := range stream.requests {
			if last := i == len(stream.requests)-1; (r.Action == contentapi.WriteAction_COMMIT) != last {
				t.Errorf("%d bytes: request %d of %d has the action %v", size, i+1, len(stream.requests), r.Action)
			}
			if n := proto.Size(r); n > 1<<20 || r.Offset != int64(len(got)) {
				t.Errorf("%d bytes: a message of %d bytes at offset %d", size, n, r.Offset)
			}
			got = append(got, r.Data...)
		}
		if !bytes.Equal(got, content) {
			t.Errorf("%d bytes: others arrive", size)
		}
	}
}

func TestSendBlobCutOff(t *testing.T) {
	b := blob{Descriptor: ocispec.Descriptor{Size: 10}, content: bytes.NewReader([]byte("short"))}
	if err := sendBlob(&acknowledged{}, b, nil); err != io.EOF {
		t.Errorf("sendBlob = %v", err)
	}
}

func randomBytes(t *testing.T, n int) []byte {
	t.Helper()
	b := make([]byte, n)
	if _, err := rand.Read(b); err != nil {
		t.Fatal(err)
	}
	return b
}

// A node has the images of its directory, and starts whatever else lies there.
func TestImportImagesOfDirectory(t *testing.T) {
	n := newTestNode(t)
	var read func() string
	n.log, read = logFile(t)
	n.cfg.ImagesDir = t.TempDir()
	layer := randomBytes(t, 2*blobChunk+17)
	oci, _ := ociFiles(t, "registry.test/team/app:1", runtime.GOARCH, layer)
	forged, _ := ociFiles(t, "registry.test/team/forged:1", runtime.GOARCH, []byte("truth"))
	forged[blobName([]byte("truth"))] = []byte("false")
	n.writeArchive("app.tar", tarOf(t, oci))
	n.writeArchive("docker.tar", tarOf(t, dockerFiles(t, "nginx:1.14.2")))
	n.writeArchive("forged.tar", tarOf(t, forged))
	n.writeArchive("noise.tar", strings.NewReader("noise"))
	n.writeArchive("notes.txt", strings.NewReader("not looked at"))
	stop := n.supervise(n.Runtime)
	t.Cleanup(stop)
	for range 2 { // the second finds all there
		if err := n.ImportImages(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]struct{ there, pinned bool }{
		PauseImage:                       {true, true},
		"registry.test/team/app:1":       {true, false},
		"docker.io/library/nginx:1.14.2": {true, false},
		"nginx:1.14.2":                   {true, false},
		"registry.test/team/forged:1":    {false, false},
	} {
		if got := n.imageStatus(name); (got != nil) != want.there || got.GetPinned() != want.pinned {
			t.Errorf("image %s: %v", name, got)
		}
	}
	for file, want := range map[string]string{"forged.tar": "unexpected commit digest", "noise.tar": "image archive"} {
		if !logged(read(), file, want) {
			t.Errorf("the log does not name %s with %q:\n%s", file, want, read())
		}
	}
	if left := n.leases(); left != 0 {
		t.Errorf("%d leases are left", left)
	}
}

// A directory that is not there is told and stops no node.
func TestImportImagesWithoutDirectory(t *testing.T) {
	log, read := logFile(t)
	r := &Runtime{cfg: Config{ImagesDir: filepath.Join(t.TempDir(), "typo")}, log: log}
	if err := r.importArchives(t.Context(), nil); err != nil {
		t.Error(err)
	}
	if !logged(read(), "typo", "no such file") {
		t.Errorf("log: %s", read())
	}
}

// logFile is a logger and what it has written so far.
func logFile(t *testing.T) (log *slog.Logger, read func() string) {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return slog.New(slog.NewTextHandler(f, nil)), func() string {
		text, _ := os.ReadFile(f.Name())
		return string(text)
	}
}

// logged tells whether one line has all of the words.
func logged(log string, words ...string) bool {
line:
	for line := range strings.Lines(log) {
		for _, w := range words {
			if !strings.Contains(line, w) {
				continue line
			}
		}
		return true
	}
	return false
}

func (n *testNode) writeArchive(name string, content io.Reader) {
	n.t.Helper()
	text, err := io.ReadAll(content)
	if err == nil {
		err = os.WriteFile(filepath.Join(n.cfg.ImagesDir, name), text, 0o600)
	}
	if err != nil {
		n.t.Fatal(err)
	}
}

func (n *testNode) imageStatus(name string) *runtimeapi.Image {
	n.t.Helper()
	reply, err := runtimeapi.NewImageServiceClient(n.conn).ImageStatus(n.t.Context(), &runtimeapi.ImageStatusRequest{
		Image: &runtimeapi.ImageSpec{Image: name},
	})
	if err != nil {
		n.t.Fatal(err)
	}
	return reply.GetImage()
}

func (n *testNode) leases() int {
	n.t.Helper()
	ctx := metadata.AppendToOutgoingContext(n.t.Context(), "containerd-namespace", criNamespace)
	reply, err := leasesapi.NewLeasesClient(n.conn).List(ctx, &leasesapi.ListRequest{})
	if err != nil {
		n.t.Fatal(err)
	}
	return len(reply.GetLeases())
}
