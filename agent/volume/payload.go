// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package volume

import (
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// payload is what a volume of files shows: their contents by clean relative path.
type payload map[string]file

type file struct {
	data []byte
	mode fs.FileMode
}

func (p payload) put(name string, f file) { p[path.Clean(name)] = f }

// checkPaths refuses a path that would have to be both a file and a directory.
func (p payload) checkPaths() error {
	for _, name := range slices.Sorted(maps.Keys(p)) {
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
			if _, isFile := p[dir]; isFile {
				return fmt.Errorf("path %q is a file, and the directory of %q", dir, name)
			}
		}
	}
	return nil
}

// fileMode is the first mode that is set; a volume's own is set by default.
func fileMode(modes ...*int32) fs.FileMode {
	for _, mode := range modes {
		if mode != nil {
			return fs.FileMode(*mode)
		}
	}
	return fs.FileMode(corev1.ConfigMapVolumeSourceDefaultMode)
}
