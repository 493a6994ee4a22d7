// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"context"
	"errors"
	"fmt"
	"os"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/berth-run/berth/agent/cgroup"
	"github.com/berth-run/berth/agent/podsync"
	"github.com/berth-run/berth/agent/syncloop"
	"github.com/berth-run/berth/agent/volume"
)

// cleaners remove what pods left on the node that are gone.
func (p *assembly) cleaners() []syncloop.Cleaner {
	return []syncloop.Cleaner{
		{Name: "statuses", Clean: func(_ context.Context, keep sets.Set[types.UID]) error {
			p.statuses.RemoveOrphans(keep)
			return nil
		}},
		{Name: "probes", Clean: func(_ context.Context, keep sets.Set[types.UID]) error {
			p.probes.CleanupPods(keep)
			return nil
		}},
		{Name: "tokens", Clean: func(_ context.Context, keep sets.Set[types.UID]) error {
			p.tokens.RemoveOrphans(keep)
			return nil
		}},
		{Name: "directories", Clean: func(ctx context.Context, keep sets.Set[types.UID]) error {
			return removeOrphanDirs(ctx, keep, p.dirs, p.volumes)
		}},
		{Name: "logs", Clean: func(_ context.Context, keep sets.Set[types.UID]) error {
			return p.runtime.RemoveOrphanLogs(keep)
		}},
		{Name: "cgroups", Clean: func(ctx context.Context, keep sets.Set[types.UID]) error {
			return removeOrphanCgroups(ctx, keep, p.cgroups)
		}},
		{Name: "QoS shares", Clean: func(context.Context, sets.Set[types.UID]) error {
			return p.cgroups.UpdateQOS(p.loop.Allocated())
		}},
	}
}

func removeOrphanDirs(ctx context.Context, keep sets.Set[types.UID], dirs podsync.PodDirs, volumes *volume.Manager) error {
	entries, err := os.ReadDir(string(dirs))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("pod directories: %w", err)
	}
	var errs []error
	for _, e := range entries {
		uid := types.UID(e.Name())
		if keep.Has(uid) {
			continue
		}
		if err := volumes.Unmount(ctx, uid); err != nil {
			errs = append(errs, err)
			continue // nothing is removed behind a mount
		}
		errs = append(errs, dirs.RemovePod(uid))
	}
	return errors.Join(errs...)
}

func removeOrphanCgroups(ctx context.Context, keep sets.Set[types.UID], cgroups *cgroup.Manager) error {
	uids, err := cgroups.Pods()
	if err != nil {
		return err
	}
	var errs []error
	for _, uid := range uids {
		if !keep.Has(uid) {
			errs = append(errs, cgroups.DestroyPod(ctx, uid))
		}
	}
	return errors.Join(errs...)
}
