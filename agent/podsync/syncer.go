// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podsync

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-run/berth/agent/podtypes"
)

// Config is what a Syncer works with; every field is needed.
type Config struct {
	Status    StatusManager
	Admission Admission
	Resizes   Resizes
	Network   Network
	Cgroups   Cgroups
	Dirs      Dirs
	Volumes   Volumes
	Secrets   Secrets
	Probes    Probes
	Runtime   Runtime
	Readings  Readings
	// Wanted tells whether the pod's record still exists. While it does, the dead
	// containers of a finished pod are kept, for their logs.
	Wanted   func(types.UID) bool
	Recorder podtypes.EventRecorder
	Logger   *slog.Logger
}

// Syncer syncs pods. It keeps nothing of them: all that a call needs it is given
// or asks for. It is safe for concurrent use for different pods.
type Syncer struct {
	Config
}

// New returns a Syncer.
func New(config Config) *Syncer { return &Syncer{Config: config} }

// readNow returns a reading that began now or later.
func (s *Syncer) readNow(ctx context.Context, uid types.UID) (*podtypes.PodStatus, error) {
	return s.readAfter(ctx, uid, time.Now())
}

// readAfter returns a reading that shows what ended before the time.
func (s *Syncer) readAfter(ctx context.Context, uid types.UID, acted time.Time) (*podtypes.PodStatus, error) {
	status, err := s.Readings.GetNewerThan(ctx, uid, acted)
	if err != nil {
		return nil, fmt.Errorf("reading the pod's status: %w", err)
	}
	return status, nil
}

// holding calls f, which acts on the pod in the runtime, and returns when it ended.
// Meanwhile the pod is not read.
func (s *Syncer) holding(uid types.UID, f func()) (acted time.Time) {
	release := s.Readings.Hold(uid)
	defer release()
	f()
	return time.Now()
}

func (s *Syncer) warn(pod *corev1.Pod, reason, message string) {
	s.Recorder.Record(pod, "", corev1.EventTypeWarning, reason, message)
}
