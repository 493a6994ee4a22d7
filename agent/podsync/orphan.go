// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podsync

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-run/berth/agent/podtypes"
)

// orphanGrace is what a pod gets whose spec nobody has any more.
const orphanGrace = corev1.DefaultTerminationGracePeriodSeconds * time.Second

// SyncTerminatingRuntimePod stops and removes all that the runtime has of a pod
// that no source knows. There is no status to report.
func (s *Syncer) SyncTerminatingRuntimePod(ctx context.Context, running *podtypes.RuntimePod) error {
	if err := s.removeOrphan(ctx, running); err != nil {
		return fmt.Errorf("orphaned pod %s/%s: %w", running.Namespace, running.Name, err)
	}
	s.Logger.Info("removed an orphaned pod", "pod", running.Namespace+"/"+running.Name, "uid", running.UID)
	return nil
}

func (s *Syncer) removeOrphan(ctx context.Context, running *podtypes.RuntimePod) error {
	status, err := s.readNow(ctx, running.UID)
	if err != nil {
		return err
	}
	killed := s.holding(running.UID, func() { err = s.Runtime.KillPod(ctx, nil, status, orphanGrace) })
	if err != nil {
		return err
	}
	if _, err := s.readStopped(ctx, running.UID, killed); err != nil {
		return err
	}
	return s.Runtime.RemovePod(ctx, running.UID)
}
