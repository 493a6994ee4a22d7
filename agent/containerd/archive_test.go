// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package containerd

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
)

// ociArchive is an archive of files by name.
func ociArchive(t *testing.T, files map[string][]byte) *bytes.Buffer {
	t.Helper()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for name, content := range files {
		if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Size: int64(len(content))}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(content); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return &out
}

func encode(t *testing.T, v any) []byte {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func describe(content []byte) ocispec.Descriptor {
	return ocispec.Descriptor{Digest: digest.FromBytes(content), Size: int64(len(content))}
}

func blobName(content []byte) string { return "blobs/sha256/" + digest.FromBytes(content).Encoded() }

func TestParseArchive(t *testing.T) {
	config, layer := []byte("{}"), []byte("layer")
	manifest := encode(t, ocispec.Manifest{Config: describe(config), Layers: []ocispec.Descriptor{describe(layer)}})
	whole := func() map[string][]byte {
		return map[string][]byte{
			"oci-layout":       []byte("{}"),
			"index.json":       encode(t, ocispec.Index{Manifests: []ocispec.Descriptor{describe(manifest)}}),
			blobName(config):   config,
			blobName(layer):    layer,
			blobName(manifest): manifest,
		}
	}
	a, err := parseArchive(ociArchive(t, whole()))
	if err != nil {
		t.Fatal(err)
	}
	if a.manifest.Digest != digest.FromBytes(manifest) || len(a.references) != 2 || len(a.blobs) != 3 {
		t.Errorf("archive %+v", a)
	}
	for name, test := range map[string]struct {
		spoil func(map[string][]byte)
		want  string
	}{
		"two images": {func(f map[string][]byte) {
			f["index.json"] = encode(t, ocispec.Index{Manifests: make([]ocispec.Descriptor, 2)})
		}, "2 manifests, want 1"},
		"no index":          {func(f map[string][]byte) { delete(f, "index.json") }, "0 manifests, want 1"},
		"a layer too few":   {func(f map[string][]byte) { delete(f, blobName(layer)) }, "is missing"},
		"no manifest":       {func(f map[string][]byte) { delete(f, blobName(manifest)) }, "manifest sha256:"},
		"a forged layer":    {func(f map[string][]byte) { f[blobName(layer)] = []byte("forged") }, "has the digest"},
		"an index of noise": {func(f map[string][]byte) { f["index.json"] = []byte("?") }, "invalid character"},
	} {
		t.Run(name, func(t *testing.T) {
			files := whole()
			test.spoil(files)
			if _, err := parseArchive(ociArchive(t, files)); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("parseArchive = %v, want %q", err, test.want)
			}
		})
	}
	if _, err := parseArchive(strings.NewReader("not a tar file")); err == nil {
		t.Error("noise is taken for an archive")
	}
}
