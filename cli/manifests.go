// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/types/known/structpb"
	"k8s.io/apimachinery/pkg/util/yaml"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/berth-run/berth/api"
)

// manifest is one object of a file.
type manifest struct {
	kind      *api.Kind
	namespace string
	name      string
	content   *structpb.Struct
}

// readManifests reads the objects of files, of the files in directories, and of
// standard input for "-", in their order. Files may hold JSON, YAML, several
// documents, and lists.
func readManifests(paths []string, stdin io.Reader) ([]manifest, error) {
	files, err := manifestFiles(paths)
	if err != nil {
		return nil, err
	}
	var out []manifest
	for _, path := range files {
		content, err := readFile(path, stdin)
		if err != nil {
			return nil, err
		}
		found, err := decodeManifests(content)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		out = append(out, found...)
	}
	if len(out) == 0 {
		return nil, errors.New("no objects in the files given; use -f FILE")
	}
	return out, nil
}

// manifests reads the objects of files. Each is in the namespace that it names, or else
// in that of the command; if the user has asked for another one than it names, which of
// the two is meant is for the user to say.
func (t *target) manifests(c *cobra.Command, files []string) ([]manifest, error) {
	manifests, err := readManifests(files, c.InOrStdin())
	if err != nil {
		return nil, err
	}
	asked := c.Flags().Changed(namespaceFlag)
	for i := range manifests {
		if err := manifests[i].settle(t.namespace, asked); err != nil {
			return nil, UsageError(err)
		}
	}
	return manifests, nil
}

// settle gives a manifest the namespace of the command where it has none of its own.
func (m *manifest) settle(namespace string, asked bool) error {
	switch {
	case !m.kind.Namespaced:
		m.namespace = ""
	case m.namespace == "":
		m.namespace = namespace
	case asked && m.namespace != namespace:
		return fmt.Errorf("%s: the namespace from the provided object %q does not match the namespace %q. "+
			"You must pass '--namespace=%s' to perform this operation", named{m.kind, m.name}, m.namespace, namespace, m.namespace)
	}
	return nil
}

// eachManifest calls fn for each object of the files, whatever becomes of those
// before it, and joins what fails.
func (t *target) eachManifest(c *cobra.Command, files []string, fn func(*client, manifest) error) error {
	manifests, err := t.manifests(c, files)
	if err != nil {
		return err
	}
	client, closeClient, err := t.connect()
	if err != nil {
		return err
	}
	defer closeClient()
	var errs []error
	for _, m := range manifests {
		if err := fn(client, m); err != nil {
			errs = append(errs, fmt.Errorf("%s: %s", named{m.kind, m.name}, message(err)))
		}
	}
	return errors.Join(errs...)
}

var manifestSuffixes = []string{".json", ".yaml", ".yml"}

func manifestFiles(paths []string) ([]string, error) {
	var files []string
	for _, path := range paths {
		info, err := os.Stat(path)
		switch {
		case path == "-":
			files = append(files, path)
		case err != nil:
			return nil, err
		case !info.IsDir():
			files = append(files, path)
		default:
			entries, err := os.ReadDir(path)
			if err != nil {
				return nil, err
			}
			for _, e := range entries {
				if slices.Contains(manifestSuffixes, filepath.Ext(e.Name())) {
					files = append(files, filepath.Join(path, e.Name()))
				}
			}
		}
	}
	return files, nil
}

func readFile(path string, stdin io.Reader) ([]byte, error) {
	if path == "-" {
		return io.ReadAll(stdin)
	}
	return os.ReadFile(path)
}

func decodeManifests(content []byte) ([]manifest, error) {
	var out []manifest
	documents := yaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(content)))
	for {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		json, err := sigsyaml.YAMLToJSON(document)
		if err != nil {
			return nil, err
		}
		if bytes.Equal(json, []byte("null")) {
			continue // only comments between two separators
		}
		content := &structpb.Struct{}
		if err := content.UnmarshalJSON(json); err != nil {
			return nil, fmt.Errorf("not an object: %w", err)
		}
		found, err := toManifests(content)
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
}

// toManifests takes an object, or a v1 List of objects, apart.
func toManifests(content *structpb.Struct) ([]manifest, error) {
	kind := content.GetFields()["kind"].GetStringValue()
	if kind == "List" {
		var out []manifest
		for _, item := range content.GetFields()["items"].GetListValue().GetValues() {
			found, err := toManifests(item.GetStructValue())
			if err != nil {
				return nil, err
			}
			out = append(out, found...)
		}
		return out, nil
	}
	if kind == "" {
		return nil, errors.New("kind: Required value: which kind of object it is")
	}
	k, err := kindNamed(kind)
	if err != nil {
		return nil, err
	}
	metadata := content.GetFields()["metadata"].GetStructValue().GetFields()
	return []manifest{{
		kind:      k,
		namespace: metadata["namespace"].GetStringValue(),
		name:      metadata["name"].GetStringValue(),
		content:   content,
	}}, nil
}
