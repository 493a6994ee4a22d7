// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package volume

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-run/berth/internal/mounts"
)

// Unmount takes away everything that was prepared for the pod, contents of
// emptyDirs included, in this run of the agent or in an earlier one. Parts of volumes
// go before the volumes.
func (m *Manager) Unmount(_ context.Context, uid types.UID) error {
	for _, name := range []string{subPathsName, volumesName} {
		dir := filepath.Join(m.podDir(uid), name)
		if err := mounts.UnmountBelow(dir, 0); err != nil {
			return fmt.Errorf("volumes of pod %s: %w", uid, err)
		}
		if err := os.RemoveAll(dir); err != nil {
			return fmt.Errorf("volumes of pod %s: %w", uid, err)
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.mounted, uid)
	return nil
}
