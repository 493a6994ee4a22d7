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

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
)

// maxDocument bounds the JSON documents of an archive, in bytes. Layers stay in the
// file until they are sent.
const maxDocument = 4 << 20

// archive is an image archive, of the OCI layout or as docker save writes it: where
// in the tar file the content of each file lies.
type archive map[string]*io.SectionReader

// image is one image of an archive.
type image struct {
	// name is its full name, such as docker.io/library/nginx:1.14.2.
	name     string
	manifest blob
	config   blob
	layers   []blob
}

// blob is a piece of an image and where its content is.
type blob struct {
	ocispec.Descriptor
	content io.ReaderAt
}

// withArchive hands the images of an archive to use, which may read them until it
// returns. Errors name the file.
func withArchive(file string, use func([]image) error) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	images, err := readArchive(f)
	if err == nil {
		err = use(images)
	}
	if err != nil {
		return fmt.Errorf("image archive %s: %w", file, err)
	}
	return nil
}

// tarFile is what an archive is read from.
type tarFile interface {
	io.ReadSeeker
	io.ReaderAt
}

// readArchive finds the images of an archive and checks all but their layers, whose
// digests containerd checks.
func readArchive(f tarFile) ([]image, error) {
	a, err := scan(f)
	if err != nil {
		return nil, err
	}
	switch {
	case a[ocispec.ImageIndexFile] != nil:
		return a.ociImages()
	case a[dockerManifestFile] != nil:
		return a.dockerImages()
	}
	return nil, fmt.Errorf("it has neither %s nor %s", ocispec.ImageIndexFile, dockerManifestFile)
}

// scan finds the files and skips their content. The tar reader does not read ahead,
// so the content of a file begins where the reader stands.
func scan(f tarFile) (archive, error) {
	a, links := archive{}, map[string]string{}
	for files := tar.NewReader(f); ; {
		header, err := files.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		offset, err := f.Seek(0, io.SeekCurrent)
		if err != nil {
			return nil, err
		}
		file := path.Clean(header.Name)
		switch header.Typeflag {
		case tar.TypeReg:
			a[file] = io.NewSectionReader(f, offset, header.Size)
		case tar.TypeSymlink: // docker save once wrote a layer that images share so
			links[file] = path.Join(path.Dir(file), header.Linkname)
		}
	}
	for link, target := range links {
		if content := a[target]; content != nil {
			a[link] = content
		}
	}
	return a, nil
}

func (a archive) file(file string) (*io.SectionReader, error) {
	if content := a[path.Clean(file)]; content != nil {
		return content, nil
	}
	return nil, fmt.Errorf("%s is missing", file)
}

// decode reads a JSON document of the archive.
func (a archive) decode(file string, into any) error {
	content, err := a.file(file)
	if err != nil {
		return err
	}
	if _, err := decode(content, into); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return nil
}

// decode reads a JSON document and returns the digest of its text.
func decode(content *io.SectionReader, into any) (digest.Digest, error) {
	if content.Size() > maxDocument {
		return "", fmt.Errorf("%d bytes, at most %d are allowed", content.Size(), maxDocument)
	}
	text := make([]byte, content.Size())
	if _, err := content.ReadAt(text, 0); err != nil && !errors.Is(err, io.EOF) {
		return "", err
	}
	return digest.FromBytes(text), json.Unmarshal(text, into)
}

// fullName completes a name as docker does: nginx:1 is docker.io/library/nginx:1. A
// name without a tag is refused, because some tools write a bare tag in its place.
func fullName(given string) (string, error) {
	tag, err := name.NewTag(given, name.WithDefaultTag(""))
	if err != nil {
		return "", fmt.Errorf("image name: %w", err)
	}
	if tag.TagStr() == "" {
		return "", fmt.Errorf("image name %q: has no tag", given)
	}
	registry := tag.RegistryStr()
	if registry == name.DefaultRegistry {
		registry = "docker.io"
	}
	return registry + "/" + tag.RepositoryStr() + ":" + tag.TagStr(), nil
}
