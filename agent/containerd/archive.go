// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package containerd

import (
	"archive/tar"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strings"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
)

// maxArchive bounds what is read into memory, in bytes.
const maxArchive = 1 << 30

// nameAnnotations are where tools write an image's name in an archive's index, in
// the order of preference.
var nameAnnotations = []string{"io.containerd.image.name", ocispec.AnnotationRefName}

// archive is an OCI image archive of one image.
type archive struct {
	// manifest describes the image.
	manifest ocispec.Descriptor
	// references are the manifest's config and layers.
	references []ocispec.Descriptor
	blobs      map[digest.Digest][]byte
}

// readArchive reads an OCI archive and checks the digests of its blobs.
func readArchive(file string) (*archive, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	a, err := parseArchive(f)
	if err != nil {
		return nil, fmt.Errorf("image archive %s: %w", file, err)
	}
	return a, nil
}

func parseArchive(r io.Reader) (*archive, error) {
	a := &archive{blobs: map[digest.Digest][]byte{}}
	var index ocispec.Index
	files := tar.NewReader(io.LimitReader(r, maxArchive))
	for {
		header, err := files.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		content, err := io.ReadAll(files)
		if err != nil {
			return nil, err
		}
		if err := a.add(path.Clean(header.Name), content, &index); err != nil {
			return nil, err
		}
	}
	return a, a.resolve(index)
}

func (a *archive) add(name string, content []byte, index *ocispec.Index) error {
	if name == ocispec.ImageIndexFile {
		return json.Unmarshal(content, index)
	}
	hex, ok := strings.CutPrefix(name, "blobs/sha256/")
	if !ok {
		return nil
	}
	d := digest.FromBytes(content)
	if d.Encoded() != hex {
		return fmt.Errorf("blob %s has the digest %s", hex, d)
	}
	a.blobs[d] = content
	return nil
}

// name is the image's full name as the archive gives it, such as
// docker.io/library/nginx:1.14.2, or empty.
func (a *archive) name() string {
	for _, key := range nameAnnotations {
		if name := a.manifest.Annotations[key]; name != "" {
			return name
		}
	}
	return ""
}

// resolve finds the one manifest and what it refers to.
func (a *archive) resolve(index ocispec.Index) error {
	if len(index.Manifests) != 1 {
		return fmt.Errorf("%d manifests, want 1", len(index.Manifests))
	}
	a.manifest = index.Manifests[0]
	var manifest ocispec.Manifest
	if err := json.Unmarshal(a.blobs[a.manifest.Digest], &manifest); err != nil {
		return fmt.Errorf("manifest %s: %w", a.manifest.Digest, err)
	}
	a.references = append([]ocispec.Descriptor{manifest.Config}, manifest.Layers...)
	for _, d := range a.references {
		if _, ok := a.blobs[d.Digest]; !ok {
			return fmt.Errorf("blob %s is missing", d.Digest)
		}
	}
	return nil
}
