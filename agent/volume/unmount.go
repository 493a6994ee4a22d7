// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package volume

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-run/berth/internal/mounts"
)

// patience is how long what is mounted for a pod may be in use by others after the
// pod's end. Then it is detached: nobody finds it any more, and it goes when the last of
// them lets go of it.
const patience = 15 * time.Second

// Unmount takes away everything that was prepared for the pod, contents of
// emptyDirs included, in this run of the agent or in an earlier one. Where something is
// in use it fails, and is to be called again.
func (m *Manager) Unmount(_ context.Context, uid types.UID) error {
	err := m.unmountAll(uid)
	for _, name := range []string{subPathsName, volumesName} {
		if err == nil {
			err = os.RemoveAll(filepath.Join(m.podDir(uid), name))
		}
	}
	if err != nil {
		return fmt.Errorf("volumes of pod %s: %w", uid, err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.mounted, uid)
	delete(m.busySince, uid)
	return nil
}

// unmountAll unmounts all layers, newest first and whoever mounted them. Those that are
// in use too long are detached.
func (m *Manager) unmountAll(uid types.UID) error {
	ours, err := m.inMemory(uid)
	if err != nil {
		return err
	}
	defer func() { m.noteLeft(ours) }()
	err = mounts.UnmountBelow(m.podDir(uid), 0)
	if err == nil || m.busyFor(uid) < m.patience {
		return err
	}
	for i := range ours {
		ours[i].detached = true
	}
	why := fmt.Errorf("still in use after %s, so that it was detached: %w", m.patience, err)
	if err := mounts.UnmountBelow(m.podDir(uid), unix.MNT_DETACH); err != nil {
		return errors.Join(why, err)
	}
	m.detached(uid, why)
	return nil
}

// busyFor returns how long the pod's volumes have been in use after its end.
func (m *Manager) busyFor(uid types.UID) time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	since, ok := m.busySince[uid]
	if !ok {
		since = time.Now()
		m.busySince[uid] = since
	}
	return time.Since(since)
}
