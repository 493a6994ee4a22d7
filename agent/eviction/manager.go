// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package eviction ends the pods that take more of the node's disk than their limits
// allow: those of emptyDirs, and of containers' ephemeral storage.
package eviction

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-run/berth/agent/podtypes"
	"github.com/berth-run/berth/api"
	"github.com/berth-run/berth/internal/diskusage"
)

const (
	// period is the kubelet's: a pod is beyond its limit that long at most, and as
	// much longer as it takes to measure.
	period = 10 * time.Second
	// measureTimeout bounds the measurement of one pod.
	measureTimeout = 30 * time.Second
	// gracePeriod is short: what the pod writes until its end is beyond its limit.
	gracePeriod = 1 // s
)

// Config says what a Manager works with; every field is needed.
type Config struct {
	// Pods are those that the node should have.
	Pods func() []*corev1.Pod
	// Volumes are a pod's mounted volumes by name.
	Volumes func(types.UID) map[string]podtypes.Volume
	// ContainerStorage returns what each container of a pod takes on disk.
	ContainerStorage func(context.Context, *corev1.Pod) (map[string]int64, error)
	// Ending tells whether the pod is ending or has ended.
	Ending func(types.UID) bool
	// Evict has the pod ended within the grace, and its status changed then.
	Evict    func(pod *corev1.Pod, graceSeconds int64, status func(*corev1.PodStatus))
	Recorder podtypes.EventRecorder
	Logger   *slog.Logger
}

// Manager measures pods and evicts them.
type Manager struct{ cfg Config }

// New returns a Manager.
func New(cfg Config) *Manager { return &Manager{cfg} }

// Run looks at all pods that have limits, one after another and time and again, until
// ctx ends.
func (m *Manager) Run(ctx context.Context) error {
	ticker := time.NewTicker(period)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		for _, pod := range m.cfg.Pods() {
			if err := m.check(ctx, pod); err != nil && ctx.Err() == nil {
				m.cfg.Logger.Warn("measuring a pod's local storage failed", "pod", api.FullName(pod), "uid", pod.UID, "err", err)
			}
		}
	}
}

// check evicts the pod if it is beyond a limit.
func (m *Manager) check(ctx context.Context, pod *corev1.Pod) error {
	if !isLimited(pod) || api.IsTerminal(pod) || m.cfg.Ending(pod.UID) {
		return nil
	}
	usage, err := m.measure(ctx, pod)
	if err != nil {
		return err
	}
	if why := exceeded(pod, usage); why != "" {
		m.evict(pod, why)
	}
	return nil
}

// measure looks at what the pod's limits are of.
func (m *Manager) measure(ctx context.Context, pod *corev1.Pod) (usage Usage, err error) {
	ctx, cancel := context.WithTimeout(ctx, measureTimeout)
	defer cancel()
	if usage.EmptyDirs, err = m.measureDirs(ctx, pod); err != nil {
		return usage, err
	}
	if limitsStorage(pod) {
		usage.Containers, err = m.cfg.ContainerStorage(ctx, pod)
	}
	return usage, err
}

func (m *Manager) measureDirs(ctx context.Context, pod *corev1.Pod) (map[string]int64, error) {
	volumes, limits, all := m.cfg.Volumes(pod.UID), limitedDirs(pod), limitsStorage(pod)
	used := map[string]int64{}
	for i := range pod.Spec.Volumes {
		v := &pod.Spec.Volumes[i]
		mounted, ok := volumes[v.Name]
		if _, limited := limits[v.Name]; !ok || !onDisk(v) || !limited && !all {
			continue
		}
		var err error
		if used[v.Name], err = diskusage.Of(ctx, mounted.HostPath); err != nil {
			return nil, fmt.Errorf("volume %q: %w", v.Name, err)
		}
	}
	return used, nil
}

func (m *Manager) evict(pod *corev1.Pod, message string) {
	m.cfg.Logger.Info("evicting a pod", "pod", api.FullName(pod), "uid", pod.UID, "why", message)
	m.cfg.Recorder.Record(pod, "", corev1.EventTypeWarning, Reason, message)
	m.cfg.Evict(pod, gracePeriod, evicted(message))
}
