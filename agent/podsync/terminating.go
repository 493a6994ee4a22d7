// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podsync

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-run/berth/agent/podtypes"
	"github.com/berth-run/berth/api"
)

// errStillRunning asks for another attempt: what runs was not among what was
// stopped.
var errStillRunning = errors.New("something of the pod still runs")

// SyncTerminatingPod stops all containers of the pod, within grace seconds or,
// if nil, the pod's own grace. After a nil error none runs, by a reading made
// after the stop, and the final state of each is reported. Only then is the phase
// terminal, and what mutate makes of the status reported as a whole.
func (s *Syncer) SyncTerminatingPod(ctx context.Context, pod *corev1.Pod, status *podtypes.PodStatus, grace *int64, mutate func(*corev1.PodStatus)) error {
	s.Status.Terminating(pod, status, mutate)
	s.Probes.StopLivenessAndStartup(pod.UID)
	var err error
	killed := s.holding(pod.UID, func() { err = s.Runtime.KillPod(ctx, pod, status, graceOf(pod, grace)) })
	if err != nil {
		if ctx.Err() == nil {
			s.warn(pod, "FailedKillPod", "error killing pod: "+err.Error())
		}
		return fmt.Errorf("pod %s: stopping: %w", api.FullName(pod), err)
	}
	stopped, err := s.readStopped(ctx, pod.UID, killed)
	if err != nil {
		return fmt.Errorf("pod %s: stopping: %w", api.FullName(pod), err)
	}
	s.Probes.RemovePod(pod.UID)
	s.Status.Stopped(pod, stopped, mutate)
	return nil
}

func graceOf(pod *corev1.Pod, seconds *int64) time.Duration {
	if seconds == nil {
		return api.GracePeriod(pod)
	}
	return time.Duration(*seconds) * time.Second
}

// readStopped reads the pod after it was killed and fails if anything of it runs.
func (s *Syncer) readStopped(ctx context.Context, uid types.UID, killed time.Time) (*podtypes.PodStatus, error) {
	status, err := s.readAfter(ctx, uid, killed)
	if err != nil {
		return nil, err
	}
	if status.Running() {
		return nil, errStillRunning
	}
	return status, nil
}
