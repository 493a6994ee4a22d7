// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package containerd

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
)

// tarOf is an archive of files by name.
func tarOf(t testing.TB, files map[string][]byte) *bytes.Reader {
	t.Helper()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		header := &tar.Header{Typeflag: tar.TypeReg, Name: name, Size: int64(len(files[name]))}
		if link, ok := bytes.CutPrefix(files[name], []byte("-> ")); ok {
			header = &tar.Header{Typeflag: tar.TypeSymlink, Name: name, Linkname: string(link)}
		}
		if err := w.WriteHeader(header); err != nil {
			t.Fatal(err)
		}
		if header.Size == 0 {
			continue
		}
		if _, err := w.Write(files[name]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return bytes.NewReader(out.Bytes())
}

func encode(t testing.TB, v any) []byte {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func describe(mediaType string, content []byte) ocispec.Descriptor {
	return ocispec.Descriptor{MediaType: mediaType, Digest: digest.FromBytes(content), Size: int64(len(content))}
}

func named(d ocispec.Descriptor, name string) ocispec.Descriptor {
	d.Annotations = map[string]string{ocispec.AnnotationRefName: name}
	return d
}

func onPlatform(d ocispec.Descriptor, arch string) ocispec.Descriptor {
	d.Platform = &ocispec.Platform{OS: "linux", Architecture: arch}
	return d
}

func blobName(content []byte) string { return "blobs/sha256/" + digest.FromBytes(content).Encoded() }

// imageConfig is the configuration of an image with one layer.
func imageConfig(t testing.TB, arch string, layer []byte) []byte {
	return encode(t, ocispec.Image{
		Platform: ocispec.Platform{OS: "linux", Architecture: arch},
		RootFS:   ocispec.RootFS{Type: "layers", DiffIDs: []digest.Digest{digest.FromBytes(layer)}},
	})
}

// ociFiles are the files of an OCI archive of one image and one layer.
func ociFiles(t testing.TB, name, arch string, layer []byte) (files map[string][]byte, manifest []byte) {
	config := imageConfig(t, arch, layer)
	manifest = encode(t, ocispec.Manifest{
		Config: describe(ocispec.MediaTypeImageConfig, config),
		Layers: []ocispec.Descriptor{describe(ocispec.MediaTypeImageLayer, layer)},
	})
	return map[string][]byte{
		"oci-layout":       []byte("{}"),
		"index.json":       indexOf(t, named(describe(ocispec.MediaTypeImageManifest, manifest), name)),
		blobName(config):   config,
		blobName(layer):    layer,
		blobName(manifest): manifest,
	}, manifest
}

func indexOf(t testing.TB, manifests ...ocispec.Descriptor) []byte {
	return encode(t, ocispec.Index{Manifests: manifests})
}

func TestReadArchiveOCI(t *testing.T) {
	layer := []byte("layer")
	files, manifest := ociFiles(t, "nginx:1.14.2", runtime.GOARCH, layer)
	d := describe(ocispec.MediaTypeImageManifest, manifest)
	foreign := encode(t, "a manifest that nobody reads")
	platforms := indexOf(t, onPlatform(describe(ocispec.MediaTypeImageManifest, foreign), "pdp11"), onPlatform(d, runtime.GOARCH))
	for name, index := range map[string][]byte{
		"one image":           files["index.json"],
		"beside an unnamed":   indexOf(t, d, named(d, "docker.io/library/nginx:1.14.2")),
		"of several machines": indexOf(t, named(describe(ocispec.MediaTypeImageIndex, platforms), "nginx:1.14.2")),
	} {
		t.Run(name, func(t *testing.T) {
			files := maps.Clone(files)
			files["index.json"], files[blobName(platforms)] = index, platforms
			images, err := readArchive(tarOf(t, files))
			if err != nil || len(images) != 1 {
				t.Fatalf("readArchive = %v, %v", images, err)
			}
			i := images[0]
			if i.name != "docker.io/library/nginx:1.14.2" || i.manifest.Digest != d.Digest || len(i.layers) != 1 {
				t.Errorf("image %+v", i)
			}
			if got := contentOf(t, i.layers[0]); got != "layer" {
				t.Errorf("layer %q", got)
			}
		})
	}
}

func contentOf(t *testing.T, b blob) string {
	t.Helper()
	text, err := io.ReadAll(io.NewSectionReader(b.content, 0, b.Size))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestReadArchiveRefusesOCI(t *testing.T) {
	layer := []byte("layer")
	files, manifest := ociFiles(t, "nginx:1.14.2", runtime.GOARCH, layer)
	d := describe(ocispec.MediaTypeImageManifest, manifest)
	foreign, _ := ociFiles(t, "nginx:1.14.2", "pdp11", layer)
	for name, test := range map[string]struct {
		change map[string][]byte
		want   string
	}{
		"no index":           {map[string][]byte{"index.json": nil}, "neither index.json nor manifest.json"},
		"an index of noise":  {map[string][]byte{"index.json": []byte("?")}, "index.json: invalid character"},
		"no name":            {map[string][]byte{"index.json": indexOf(t, d)}, "names no image"},
		"a bare tag":         {map[string][]byte{"index.json": indexOf(t, named(d, "1.14.2"))}, "has no tag"},
		"a layer too few":    {map[string][]byte{blobName(layer): nil}, "is missing"},
		"a layer cut off":    {map[string][]byte{blobName(layer): []byte("lay")}, "has 3 bytes, want 5"},
		"no manifest":        {map[string][]byte{blobName(manifest): nil}, "is missing"},
		"a forged manifest":  {map[string][]byte{blobName(manifest): bytes.ToUpper(manifest)}, "has the digest"},
		"a digest of noise":  {map[string][]byte{"index.json": indexOf(t, named(ocispec.Descriptor{Digest: "x"}, "a:1"))}, "invalid checksum digest"},
		"of another machine": {foreign, "it is for linux/pdp11"},
		"for other machines": {map[string][]byte{
			"index.json": indexOf(t, named(describe(ocispec.MediaTypeImageIndex, indexOf(t, onPlatform(d, "pdp11"))), "a:1")),
			blobName(indexOf(t, onPlatform(d, "pdp11"))): indexOf(t, onPlatform(d, "pdp11")),
		}, "no manifest for linux/"},
	} {
		t.Run(name, func(t *testing.T) {
			files := maps.Clone(files)
			maps.Copy(files, test.change)
			maps.DeleteFunc(files, func(_ string, content []byte) bool { return content == nil })
			if images, err := readArchive(tarOf(t, files)); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("readArchive = %v, %v, want %q", images, err, test.want)
			}
		})
	}
	if _, err := readArchive(bytes.NewReader([]byte("not a tar file"))); err == nil {
		t.Error("noise is taken for an archive")
	}
}

// dockerFiles are the files of docker save, whose layers may be links.
func dockerFiles(t testing.TB, tags ...string) map[string][]byte {
	layer := []byte("layer")
	return map[string][]byte{
		"c.json":      imageConfig(t, runtime.GOARCH, layer),
		"a/layer.tar": layer,
		"b/layer.tar": []byte("-> ../a/layer.tar"),
		"manifest.json": encode(t, []dockerImage{
			{Config: "c.json", RepoTags: tags, Layers: []string{"b/layer.tar"}},
		}),
	}
}

func TestReadArchiveDocker(t *testing.T) {
	images, err := readArchive(tarOf(t, dockerFiles(t, "nginx:1.14.2", "quay.io/team/app:2")))
	if err != nil || len(images) != 2 {
		t.Fatalf("readArchive = %v, %v", images, err)
	}
	if images[0].name != "docker.io/library/nginx:1.14.2" || images[1].name != "quay.io/team/app:2" {
		t.Errorf("names %s, %s", images[0].name, images[1].name)
	}
	var manifest ocispec.Manifest
	if err := json.Unmarshal([]byte(contentOf(t, images[0].manifest)), &manifest); err != nil {
		t.Fatal(err)
	}
	want := describe(ocispec.MediaTypeImageLayer, []byte("layer"))
	if l := manifest.Layers; len(l) != 1 || l[0].Digest != want.Digest || l[0].MediaType != want.MediaType {
		t.Errorf("layers %+v, want %+v", l, want)
	}
	if got := contentOf(t, images[0].layers[0]); got != "layer" {
		t.Errorf("layer %q", got)
	}
}

func TestReadArchiveRefusesDocker(t *testing.T) {
	for name, test := range map[string]struct {
		tags []string
		miss string
		want string
	}{
		"no name":         {nil, "", "names no image"},
		"no config":       {[]string{"a:1"}, "c.json", "c.json is missing"},
		"a layer too few": {[]string{"a:1"}, "a/layer.tar", "b/layer.tar is missing"},
		"a bad name":      {[]string{"A B:1"}, "", "image name"},
	} {
		t.Run(name, func(t *testing.T) {
			files := dockerFiles(t, test.tags...)
			delete(files, test.miss)
			if images, err := readArchive(tarOf(t, files)); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("readArchive = %v, %v, want %q", images, err, test.want)
			}
		})
	}
}
