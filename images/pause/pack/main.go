// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Command pack writes a static program as an OCI image archive, named as
// containerd's import expects it. The same program always gives the same bytes.
package main

import (
	"archive/tar"
	"bytes"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// imageNameAnnotation is the annotation of an index entry under which containerd imports it.
const imageNameAnnotation = "io.containerd.image.name"

func main() {
	program := flag.String("program", "", "static program to pack; its file name is its path in the image")
	out := flag.String("out", "", "OCI archive to write")
	name := flag.String("name", "berth.run/pause:1", "name of the image")
	flag.Parse()
	if err := pack(*program, *out, *name); err != nil {
		fmt.Fprintln(os.Stderr, "pack:", err)
		os.Exit(1)
	}
}

func pack(program, out, name string) error {
	body, err := os.ReadFile(program)
	if err != nil {
		return err
	}
	image, err := programImage(filepath.Base(program), body)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "berth-pack-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	index, err := layout.Write(dir, empty.Index)
	if err != nil {
		return err
	}
	if err := index.AppendImage(image, layout.WithAnnotations(map[string]string{imageNameAnnotation: name})); err != nil {
		return err
	}
	return archive(dir, out)
}

// programImage is an image of one layer with one file, /<name>, as its entrypoint.
func programImage(name string, program []byte) (v1.Image, error) {
	layer, err := programLayer(name, program)
	if err != nil {
		return nil, err
	}
	base := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	image, err := mutate.AppendLayers(base, layer)
	if err != nil {
		return nil, err
	}
	config, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	config.Architecture, config.OS = runtime.GOARCH, "linux"
	config.Config = v1.Config{Entrypoint: []string{"/" + name}, User: "65535:65535"}
	return mutate.ConfigFile(image, config)
}

func programLayer(name string, program []byte) (v1.Layer, error) {
	var body bytes.Buffer
	w := tar.NewWriter(&body)
	if err := addFile(w, name, 0o755, program); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return tarball.LayerFromOpener(func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(body.Bytes())), nil
	}, tarball.WithMediaType(types.OCILayer))
}

// archive writes the files below dir to the tar file out, in lexical order.
func archive(dir, out string) error {
	var body bytes.Buffer
	w := tar.NewWriter(&body)
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		return addFile(w, filepath.ToSlash(name), 0o644, content)
	})
	if err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	return os.WriteFile(out, body.Bytes(), 0o644)
}

func addFile(w *tar.Writer, name string, mode int64, content []byte) error {
	err := w.WriteHeader(&tar.Header{
		Typeflag: tar.TypeReg,
		Name:     name,
		Mode:     mode,
		Size:     int64(len(content)),
		Format:   tar.FormatUSTAR,
	})
	if err != nil {
		return err
	}
	_, err = w.Write(content)
	return err
}
