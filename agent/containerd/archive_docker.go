// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package containerd

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/opencontainers/go-digest"
	"github.com/opencontainers/image-spec/specs-go"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
)

// dockerManifestFile lists the images of an archive that docker save wrote.
const dockerManifestFile = "manifest.json"

// dockerImage is one entry of it; files are named by their paths in the archive.
type dockerImage struct {
	Config   string
	RepoTags []string
	Layers   []string
}

// dockerImages are the images of an archive that docker save wrote, each once for
// every name it has.
func (a archive) dockerImages() ([]image, error) {
	var entries []dockerImage
	if err := a.decode(dockerManifestFile, &entries); err != nil {
		return nil, err
	}
	var images []image
	for _, entry := range entries {
		if len(entry.RepoTags) == 0 {
			continue
		}
		i, err := a.dockerImage(entry)
		if err != nil {
			return nil, fmt.Errorf("image %s: %w", entry.RepoTags[0], err)
		}
		for _, tag := range entry.RepoTags {
			if i.name, err = fullName(tag); err != nil {
				return nil, err
			}
			images = append(images, i)
		}
	}
	if len(images) == 0 {
		return nil, fmt.Errorf("its %s names no image: RepoTags", dockerManifestFile)
	}
	return images, nil
}

// dockerImage gives an image the manifest that docker save leaves out.
func (a archive) dockerImage(entry dockerImage) (image, error) {
	var config ocispec.Image
	if err := a.decode(entry.Config, &config); err != nil {
		return image{}, err
	}
	var i image
	var err error
	if i.config, err = a.describe(entry.Config); err != nil {
		return image{}, err
	}
	i.config.MediaType = ocispec.MediaTypeImageConfig
	manifest := ocispec.Manifest{
		Versioned: specs.Versioned{SchemaVersion: 2},
		MediaType: ocispec.MediaTypeImageManifest,
		Config:    i.config.Descriptor,
	}
	for _, file := range entry.Layers {
		layer, err := a.describe(file)
		if err != nil {
			return image{}, err
		}
		if layer.MediaType, err = layerType(layer.content); err != nil {
			return image{}, fmt.Errorf("%s: %w", file, err)
		}
		i.layers = append(i.layers, layer)
		manifest.Layers = append(manifest.Layers, layer.Descriptor)
	}
	text, err := json.Marshal(manifest)
	if err != nil {
		return image{}, err
	}
	i.manifest = blob{
		Descriptor: ocispec.Descriptor{MediaType: manifest.MediaType, Digest: digest.FromBytes(text), Size: int64(len(text))},
		content:    bytes.NewReader(text),
	}
	return i, checkConfig(config, len(i.layers))
}

// describe makes a blob of a file; it reads it once for its digest.
func (a archive) describe(file string) (blob, error) {
	content, err := a.file(file)
	if err != nil {
		return blob{}, err
	}
	sum, err := digest.FromReader(io.NewSectionReader(content, 0, content.Size()))
	if err != nil {
		return blob{}, fmt.Errorf("%s: %w", file, err)
	}
	return blob{Descriptor: ocispec.Descriptor{Digest: sum, Size: content.Size()}, content: content}, nil
}

// layerType tells a compressed layer from a plain one.
func layerType(content io.ReaderAt) (string, error) {
	var start [2]byte
	if _, err := content.ReadAt(start[:], 0); err != nil && !errors.Is(err, io.EOF) {
		return "", err
	}
	if start == [2]byte{0x1f, 0x8b} {
		return ocispec.MediaTypeImageLayerGzip, nil
	}
	return ocispec.MediaTypeImageLayer, nil
}
