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
	"github.com/google/go-containerregistry/pkg/v1/random"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
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
	// The version is in the layer, so that no two images share it. The page lies where nginx has it.
	return assemble([]file{
		{name: "app", mode: 0o755, content: body}, {name: "version", mode: 0o644, content: []byte(version)},
		{name: "usr/share/nginx/html/index.html", mode: 0o644, content: []byte("hello from the page\n")},
	}, v1.Config{Entrypoint: []string{"/app"}, Cmd: args, Env: []string{"PATH=/", "VERSION=" + version}})
}

// assemble makes an image of one layer.
func assemble(files []file, config v1.Config) (v1.Image, error) {
	content, err := layer(files)
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
	configFile, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	configFile = configFile.DeepCopy()
	configFile.OS, configFile.Architecture, configFile.Config = "linux", runtime.GOARCH, config
	return mutate.ConfigFile(image, configFile)
}

// file is a file of a layer or, with a target, a symbolic link.
type file struct {
	name    string
	mode    int64
	content []byte
	target  string
}

func (f *file) header() *tar.Header {
	if f.target != "" {
		return &tar.Header{Name: f.name, Typeflag: tar.TypeSymlink, Linkname: f.target, Mode: 0o777}
	}
	return &tar.Header{Name: f.name, Mode: f.mode, Size: int64(len(f.content))}
}

// layer holds the files and the directories that every image has.
func layer(files []file) ([]byte, error) {
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, d := range []struct {
		name string
		mode int64
	}{{"bin/", 0o755}, {"etc/", 0o755}, {"tmp/", 0o1777}, {"proc/", 0o755}, {"dev/", 0o755}, {"sys/", 0o755}} {
		if err := w.WriteHeader(&tar.Header{Name: d.name, Typeflag: tar.TypeDir, Mode: d.mode}); err != nil {
			return nil, err
		}
	}
	for i := range files {
		if err := w.WriteHeader(files[i].header()); err != nil {
			return nil, err
		}
		if _, err := w.Write(files[i].content); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return out.Bytes(), err
}

// Grow adds layers of so many random bytes each, which no other image has.
func Grow(image v1.Image, sizes ...int64) (v1.Image, error) {
	for _, size := range sizes {
		l, err := random.Layer(size, types.DockerLayer)
		if err == nil {
			image, err = mutate.AppendLayers(image, l)
		}
		if err != nil {
			return nil, err
		}
	}
	return image, nil
}
