// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package testimage makes the images of the end-to-end tests and serves them from
// a registry in the test's own process, so that no test needs the internet.
package testimage

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// Build compiles the test application of the module in root, into dir, and returns
// its path.
func Build(root, dir string) (string, error) {
	path := filepath.Join(dir, "testapp")
	c := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", path, "./test/internal/testapp")
	c.Dir = root
	c.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := c.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build testapp: %w\n%s", err, out)
	}
	return path, nil
}

// New makes an image of one layer that holds the program as /app. args are what
// the program is run with unless a pod says otherwise; each version is another
// image, and programs find it in $VERSION.
func New(program, version string, args ...string) (v1.Image, error) {
	body, err := os.ReadFile(program)
	if err != nil {
		return nil, err
	}
	content, err := layer(body, version)
	if err != nil {
		return nil, err
	}
	open := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(content)), nil }
	l, err := tarball.LayerFromOpener(open)
	if err != nil {
		return nil, err
	}
	image, err := mutate.AppendLayers(empty.Image, l)
	if err != nil {
		return nil, err
	}
	file, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	file = file.DeepCopy()
	file.OS, file.Architecture = "linux", runtime.GOARCH
	file.Config = v1.Config{Entrypoint: []string{"/app"}, Cmd: args, Env: []string{"PATH=/", "VERSION=" + version}}
	return mutate.ConfigFile(image, file)
}

// layer holds the program and the version, so that no two images share it.
func layer(program []byte, version string) ([]byte, error) {
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, dir := range []string{"etc/", "tmp/", "proc/", "dev/", "sys/"} {
		if err := w.WriteHeader(&tar.Header{Name: dir, Typeflag: tar.TypeDir, Mode: 0o755}); err != nil {
			return nil, err
		}
	}
	for _, f := range []struct {
		name    string
		content []byte
	}{{"app", program}, {"version", []byte(version)}} {
		if err := w.WriteHeader(&tar.Header{Name: f.name, Mode: 0o755, Size: int64(len(f.content))}); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.content); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return out.Bytes(), err
}
