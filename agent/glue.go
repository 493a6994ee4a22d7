// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"context"
	"errors"
	"fmt"
	"os"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/berth-run/berth/agent/cgroup"
	"github.com/berth-run/berth/agent/objects"
	"github.com/berth-run/berth/agent/podmanager"
	"github.com/berth-run/berth/agent/podruntime"
	"github.com/berth-run/berth/agent/podsync"
	"github.com/berth-run/berth/agent/podtypes"
	"github.com/berth-run/berth/agent/podworkers"
	"github.com/berth-run/berth/agent/prober"
	"github.com/berth-run/berth/agent/status"
	"github.com/berth-run/berth/agent/syncloop"
	"github.com/berth-run/berth/agent/tokens"
	"github.com/berth-run/berth/agent/volume"
	"github.com/berth-run/berth/api"
)

// resyncUsers syncs the pods that name an object that has changed.
func resyncUsers(pods *podmanager.Manager, workers *podworkers.PodWorkers, changed objects.Key) {
	for _, pod := range pods.Pods() {
		if changed.Namespace != "" && pod.Namespace != changed.Namespace {
			continue
		}
		for r := range api.References(pod) {
			if r.Kind.Name == changed.Kind && r.Namespace == changed.Namespace && r.Name == changed.Name {
				workers.Resync(pod.UID)
				break
			}
		}
	}
}

// evict ends a pod for a reason of the node's own.
func evict(workers *podworkers.PodWorkers) func(*corev1.Pod, int64, func(*corev1.PodStatus)) {
	return func(pod *corev1.Pod, graceSeconds int64, status func(*corev1.PodStatus)) {
		workers.UpdatePod(podworkers.UpdatePodOptions{
			Type: podtypes.SyncKill, Pod: pod,
			Kill: podworkers.KillPodOptions{Evict: true, PodStatusFunc: status, GracePeriodSeconds: &graceSeconds},
		})
	}
}

// cleaners remove what pods left on the node that are gone.
func cleaners(allocated allocations, statuses *status.Manager, probes *prober.Manager, dirs podsync.PodDirs, volumes *volume.Manager, podTokens *tokens.Manager, runtime *podruntime.Runtime, cgroups *cgroup.Manager) []syncloop.Cleaner {
	return []syncloop.Cleaner{
		{Name: "statuses", Clean: func(_ context.Context, keep sets.Set[types.UID]) error {
			statuses.RemoveOrphans(keep)
			return nil
		}},
		{Name: "probes", Clean: func(_ context.Context, keep sets.Set[types.UID]) error {
			probes.CleanupPods(keep)
			return nil
		}},
		{Name: "tokens", Clean: func(_ context.Context, keep sets.Set[types.UID]) error {
			podTokens.RemoveOrphans(keep)
			return nil
		}},
		{Name: "directories", Clean: func(ctx context.Context, keep sets.Set[types.UID]) error {
			return removeOrphanDirs(ctx, keep, dirs, volumes)
		}},
		{Name: "logs", Clean: func(_ context.Context, keep sets.Set[types.UID]) error {
			return runtime.RemoveOrphanLogs(keep)
		}},
		{Name: "cgroups", Clean: func(ctx context.Context, keep sets.Set[types.UID]) error {
			return removeOrphanCgroups(ctx, keep, cgroups)
		}},
		{Name: "QoS shares", Clean: func(context.Context, sets.Set[types.UID]) error {
			return cgroups.UpdateQOS(allocated.pods())
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
