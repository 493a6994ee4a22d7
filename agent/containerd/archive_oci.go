// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package containerd

import (
	"fmt"
	"runtime"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
)

// nameAnnotations are where tools write an image's name in an archive's index, in
// the order of preference.
var nameAnnotations = []string{"io.containerd.image.name", ocispec.AnnotationRefName}

// dockerManifestList is Docker's media type of an index.
const dockerManifestList = "application/vnd.docker.distribution.manifest.list.v2+json"

// ociImages are the images that the archive's index names.
func (a archive) ociImages() ([]image, error) {
	var index ocispec.Index
	if err := a.decode(ocispec.ImageIndexFile, &index); err != nil {
		return nil, err
	}
	var images []image
	for _, d := range index.Manifests {
		given := annotatedName(d)
		if given == "" {
			continue
		}
		name, err := fullName(given)
		if err != nil {
			return nil, err
		}
		i, err := a.ociImage(d)
		if err != nil {
			return nil, fmt.Errorf("image %s: %w", name, err)
		}
		i.name = name
		images = append(images, i)
	}
	if len(images) == 0 {
		return nil, fmt.Errorf("its index names no image: annotation %s", nameAnnotations[0])
	}
	return images, nil
}

func annotatedName(d ocispec.Descriptor) string {
	for _, key := range nameAnnotations {
		if name := d.Annotations[key]; name != "" {
			return name
		}
	}
	return ""
}

// ociImage is the image of a manifest, or that for this machine of an index.
func (a archive) ociImage(d ocispec.Descriptor) (image, error) {
	if d.MediaType == ocispec.MediaTypeImageIndex || d.MediaType == dockerManifestList {
		var index ocispec.Index
		if _, err := a.document(d, &index); err != nil {
			return image{}, err
		}
		var err error
		if d, err = forPlatform(index); err != nil {
			return image{}, err
		}
	}
	var manifest ocispec.Manifest
	text, err := a.document(d, &manifest)
	if err != nil {
		return image{}, err
	}
	var config ocispec.Image
	i := image{manifest: text}
	if i.config, err = a.document(manifest.Config, &config); err != nil {
		return image{}, err
	}
	for _, layer := range manifest.Layers {
		b, err := a.blob(layer)
		if err != nil {
			return image{}, err
		}
		i.layers = append(i.layers, b)
	}
	return i, checkConfig(config, len(i.layers))
}

// forPlatform picks the manifest for this machine.
func forPlatform(index ocispec.Index) (ocispec.Descriptor, error) {
	for _, d := range index.Manifests {
		if p := d.Platform; p != nil && p.OS == "linux" && p.Architecture == runtime.GOARCH {
			return d, nil
		}
	}
	return ocispec.Descriptor{}, fmt.Errorf("it has no manifest for linux/%s", runtime.GOARCH)
}

// checkConfig refuses what containerd would store and then not find.
func checkConfig(config ocispec.Image, layers int) error {
	if config.OS != "linux" || config.Architecture != runtime.GOARCH {
		return fmt.Errorf("it is for %s/%s, this machine is linux/%s", config.OS, config.Architecture, runtime.GOARCH)
	}
	if n := len(config.RootFS.DiffIDs); n != layers {
		return fmt.Errorf("its configuration has %d layers, its manifest %d", n, layers)
	}
	return nil
}

// document is a blob that is a JSON document, decoded into a value.
func (a archive) document(d ocispec.Descriptor, into any) (blob, error) {
	b, err := a.blob(d)
	if err != nil {
		return blob{}, err
	}
	content, err := a.file(blobPath(d.Digest))
	if err != nil {
		return blob{}, err
	}
	is, err := decode(content, into)
	if err != nil {
		return blob{}, fmt.Errorf("blob %s: %w", d.Digest, err)
	}
	if is != d.Digest {
		return blob{}, fmt.Errorf("blob %s has the digest %s", d.Digest, is)
	}
	return b, nil
}

// blob finds what a descriptor describes.
func (a archive) blob(d ocispec.Descriptor) (blob, error) {
	if err := d.Digest.Validate(); err != nil {
		return blob{}, fmt.Errorf("digest %q: %w", d.Digest, err)
	}
	content, err := a.file(blobPath(d.Digest))
	if err != nil {
		return blob{}, err
	}
	if content.Size() != d.Size {
		return blob{}, fmt.Errorf("blob %s has %d bytes, want %d", d.Digest, content.Size(), d.Size)
	}
	return blob{Descriptor: d, content: content}, nil
}

func blobPath(d digest.Digest) string { return "blobs/" + d.Algorithm().String() + "/" + d.Encoded() }
