// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podsync

import (
	"fmt"
	"os"
	"path/filepath"

	"k8s.io/apimachinery/pkg/types"
)

// PodDirs are the pods' own directories below one directory of the node, each
// named by the pod's UID.
type PodDirs string

// Path returns where the pod's directory is.
func (d PodDirs) Path(uid types.UID) string { return filepath.Join(string(d), string(uid)) }

// EnsurePod makes the pod's directory, to which only root has access.
func (d PodDirs) EnsurePod(uid types.UID) error {
	if err := checkUID(uid); err != nil {
		return err
	}
	if err := os.MkdirAll(d.Path(uid), 0o750); err != nil {
		return fmt.Errorf("pod %s: directory: %w", uid, err)
	}
	return nil
}

// RemovePod removes the pod's directory with all that is in it. Volumes must be
// unmounted before.
func (d PodDirs) RemovePod(uid types.UID) error {
	if err := checkUID(uid); err != nil {
		return err
	}
	if err := os.RemoveAll(d.Path(uid)); err != nil {
		return fmt.Errorf("pod %s: directory: %w", uid, err)
	}
	return nil
}

// checkUID refuses what is not the name of one directory below ours.
func checkUID(uid types.UID) error {
	if name := string(uid); name == "." || name != filepath.Base(name) || !filepath.IsLocal(name) {
		return fmt.Errorf("pod UID %q: names no directory", uid)
	}
	return nil
}
