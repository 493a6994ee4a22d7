// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package images

import (
	"strings"

	"github.com/google/go-containerregistry/pkg/name"

	"github.com/berth-run/berth/agent/podruntime/images/credentials"
)

// reference is an image's name, taken apart.
type reference struct {
	// full is the name with a tag or a digest, otherwise as the user wrote it:
	// what the name is short of, such as a registry, is for the runtime to add.
	full string
	// image is what credentials are matched with.
	image credentials.Image
}

func parseReference(image string) (reference, error) {
	ref, err := name.ParseReference(image)
	if err != nil {
		return reference{}, err
	}
	full := image
	if tag, ok := ref.(name.Tag); ok && !strings.HasSuffix(image, ":"+tag.TagStr()) {
		full += ":" + tag.TagStr()
	}
	return reference{full: full, image: credentials.Image{
		Registry: ref.Context().RegistryStr(), Repository: ref.Context().RepositoryStr()}}, nil
}
