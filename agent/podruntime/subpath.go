// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podruntime

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-run/berth/agent/podtypes"
)

// maxPath is the kernel's bound of a path.
const maxPath = 4096

// mountSource is where on the node lies what a container's mount shows: the volume, or
// a part of it.
func (r *Runtime) mountSource(uid types.UID, c *corev1.Container, number int, volume podtypes.Volume, vars map[string]string) (string, error) {
	m := &c.VolumeMounts[number]
	part, err := subPath(m, vars)
	if err == nil && part == "" {
		return volume.HostPath, nil
	}
	var place string
	if err == nil {
		place, err = r.cfg.SubPath(uid, podtypes.SubPath{Volume: m.Name, Path: part, Container: c.Name, Mount: number})
	}
	if err != nil {
		return "", fmt.Errorf("failed to prepare subPath for volumeMount %q of container %q: %w", m.Name, c.Name, err)
	}
	return place, nil
}

// subPath is the part of the volume that a mount shows, empty for all of it. What is
// made of variables can be anything, and is checked here.
func subPath(m *corev1.VolumeMount, vars map[string]string) (string, error) {
	if m.SubPathExpr == "" {
		return m.SubPath, nil
	}
	if name, missing := missingVariable(m.SubPathExpr, vars); missing {
		return "", fmt.Errorf("missing value for %q", name)
	}
	expanded, fits := expand(m.SubPathExpr, vars, maxPath)
	switch {
	case !fits:
		return "", errors.New("subPathExpr becomes longer than a path can be")
	case path.IsAbs(expanded):
		return "", fmt.Errorf("SubPath %q must not be an absolute path", expanded)
	case slices.Contains(strings.Split(expanded, "/"), ".."):
		return "", fmt.Errorf("SubPath %q must not contain '..'", expanded)
	}
	return expanded, nil
}

// missingVariable finds a reference to a variable that the container does not have.
func missingVariable(s string, vars map[string]string) (name string, missing bool) {
	for {
		_, rest, found := strings.Cut(s, "$")
		if !found {
			return "", false
		}
		_, length := expandOne(rest, vars)
		if strings.HasPrefix(rest, "(") && length > 0 {
			name := rest[1 : length-1]
			if _, known := vars[name]; !known {
				return name, true
			}
		}
		s = rest[length:]
	}
}
