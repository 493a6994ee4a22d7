// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podsync

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-run/berth/agent/podtypes"
	"github.com/berth-run/berth/api"
)

// SyncTerminatedPod releases what a pod held of which nothing runs any more, and
// then reports it as terminated.
//
// A pod that ended by itself and whose record stays, such as one that Succeeded,
// keeps its dead containers and its directory, so that its logs can be read; its
// address was freed when its sandbox stopped. When the record goes, they go by
// another call for the pod or, if the agent did not see the record go, by the
// clean-up of what no source knows.
func (s *Syncer) SyncTerminatedPod(ctx context.Context, pod *corev1.Pod, _ *podtypes.PodStatus) error {
	for _, release := range []struct {
		name string
		do   func(context.Context, *corev1.Pod) error
	}{
		{"volumes", s.unmountVolumes},
		{"runtime", s.removeContainers},
		{"cgroups", s.destroyCgroup},
		{"directories", s.removeDirs},
	} {
		if err := release.do(ctx, pod); err != nil {
			return fmt.Errorf("pod %s: releasing %s: %w", api.FullName(pod), release.name, err)
		}
	}
	s.Status.TerminatePod(pod)
	return nil
}

func (s *Syncer) unmountVolumes(ctx context.Context, pod *corev1.Pod) error {
	return s.Volumes.Unmount(ctx, pod.UID)
}

func (s *Syncer) removeContainers(ctx context.Context, pod *corev1.Pod) error {
	if s.keepsRecord(pod) {
		return nil
	}
	return s.Runtime.RemovePod(ctx, pod.UID)
}

func (s *Syncer) destroyCgroup(ctx context.Context, pod *corev1.Pod) error {
	return s.Cgroups.DestroyPod(ctx, pod.UID)
}

func (s *Syncer) removeDirs(_ context.Context, pod *corev1.Pod) error {
	if s.keepsRecord(pod) {
		return nil
	}
	return s.Dirs.RemovePod(pod.UID)
}

// keepsRecord tells whether users still see the pod after its end.
func (s *Syncer) keepsRecord(pod *corev1.Pod) bool {
	return pod.DeletionTimestamp == nil && s.Wanted(pod.UID)
}
