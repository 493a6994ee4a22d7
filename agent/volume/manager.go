// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package volume prepares the volumes of pods on the node's disk and takes them
// away again. What it makes lies below the pod's own directory:
//
//	<pods>/<uid>/volumes/<kind>/<volume>
//
// so that after a restart of the agent the directory alone says what is there.
package volume

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-run/berth/agent/podtypes"
	"github.com/berth-run/berth/api"
)

// volumesName is, in a pod's directory, where its volumes are.
const volumesName = "volumes"

// Objects is where the contents of configMap and secret volumes come from. A
// missing object is an error that names it and for which IsNotFound of
// k8s.io/apimachinery/pkg/api/errors is true.
type Objects interface {
	ConfigMap(namespace, name string) (*corev1.ConfigMap, error)
	Secret(namespace, name string) (*corev1.Secret, error)
}

// Config says what a Manager works with.
type Config struct {
	// PodsDir holds the directories of the pods.
	PodsDir string
	Objects Objects
	Tokens  Tokens
	// Allocatable is what the node has for pods: the limit of a container without one.
	Allocatable func() corev1.ResourceList
	// Detached, unless nil, is told of a pod whose volumes others have in use, and why
	// they were detached.
	Detached func(uid types.UID, why error)
}

// Manager prepares volumes. Calls for one pod come one after another; different
// pods go in parallel.
type Manager struct {
	pods        string
	objects     Objects
	tokens      Tokens
	allocatable func() corev1.ResourceList
	detached    func(types.UID, error)
	patience    time.Duration

	mu      sync.Mutex
	mounted map[types.UID]map[string]podtypes.Volume
	// busySince is when the volumes of a pod that has ended were first found in use.
	busySince map[types.UID]time.Time
	// left are those in memory that others may keep.
	left []Leftover
}

// New returns a manager of the volumes of pods.
func New(cfg Config) *Manager {
	if cfg.Detached == nil {
		cfg.Detached = func(types.UID, error) {}
	}
	return &Manager{
		pods: cfg.PodsDir, objects: cfg.Objects, tokens: cfg.Tokens, allocatable: cfg.Allocatable,
		detached: cfg.Detached, patience: patience,
		mounted: map[types.UID]map[string]podtypes.Volume{}, busySince: map[types.UID]time.Time{},
	}
}

// Mount prepares every volume of the pod, or brings its contents up to date, and
// returns where each lies. It may be called again at any time. An error without
// volumes says what the pod lacks; with them, what could not be brought up to date
// and is as it was.
func (m *Manager) Mount(ctx context.Context, pod *corev1.Pod) (map[string]podtypes.Volume, error) {
	volumes := make(map[string]podtypes.Volume, len(pod.Spec.Volumes))
	var errs []error
	for i := range pod.Spec.Volumes {
		v := &pod.Spec.Volumes[i]
		if v.Image != nil {
			volumes[v.Name] = podtypes.Volume{Image: v.Image}
			continue
		}
		path, err := m.prepare(ctx, pod, v)
		if path != "" {
			volumes[v.Name] = podtypes.Volume{HostPath: path}
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("volume %q of pod %s: %w", v.Name, api.FullName(pod), err))
		}
	}
	err := errors.Join(errs...)
	if len(volumes) < len(pod.Spec.Volumes) {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.mounted[pod.UID] = volumes
	return maps.Clone(volumes), err
}

// prepare makes one volume and returns its path on the node. With an error the path
// is empty unless the volume is there as it was.
func (m *Manager) prepare(ctx context.Context, pod *corev1.Pod, v *corev1.Volume) (string, error) {
	switch {
	case v.HostPath != nil:
		return pathIf(v.HostPath.Path, checkHostPath(v.HostPath))
	case v.EmptyDir != nil:
		dir := m.volumeDir(pod.UID, "empty-dir", v.Name)
		return pathIf(dir, m.makeEmptyDir(dir, pod, v.EmptyDir))
	}
	kind, files, err := m.files(ctx, pod, &v.VolumeSource)
	if kind == "" {
		return "", errors.New("this kind of volume is not supported")
	}
	return m.show(m.volumeDir(pod.UID, kind, v.Name), owned(pod, 0o755, groupReads), files, err)
}

func pathIf(path string, err error) (string, error) {
	if err != nil {
		return "", err
	}
	return path, nil
}

// files are those of a volume that shows files, and the name of its kind.
func (m *Manager) files(ctx context.Context, pod *corev1.Pod, s *corev1.VolumeSource) (kind string, files payload, err error) {
	switch {
	case s.ConfigMap != nil:
		kind = "configmap"
		files, err = m.configMapFiles(pod.Namespace, dataSource{s.ConfigMap.Name, s.ConfigMap.Items, s.ConfigMap.DefaultMode, s.ConfigMap.Optional})
	case s.Secret != nil:
		kind = "secret"
		files, err = m.secretFiles(pod.Namespace, dataSource{s.Secret.SecretName, s.Secret.Items, s.Secret.DefaultMode, s.Secret.Optional})
	case s.DownwardAPI != nil:
		kind = "downward-api"
		files, err = m.downwardFiles(pod, s.DownwardAPI.Items, s.DownwardAPI.DefaultMode)
	case s.Projected != nil:
		kind = "projected"
		files, err = m.projectedFiles(ctx, pod, s.Projected)
	}
	if err == nil {
		err = files.checkPaths()
	}
	return kind, files, err
}

// show writes files into a tmpfs, where secrets are kept off the disk, and all are
// spared it the writes. Files that could not be had leave those of before, in this
// run of the agent or in an earlier one.
func (m *Manager) show(dir string, like dirMode, files payload, err error) (string, error) {
	if err == nil {
		err = tmpfs.mountAt(dir, like.options())
	}
	if err == nil {
		like.readableBy(files)
		err = writeAtomically(dir, files)
	}
	if err != nil && !isWritten(dir) {
		return "", err
	}
	return dir, err
}

// Volumes returns where the volumes of a pod lie that Mount has prepared.
func (m *Manager) Volumes(uid types.UID) map[string]podtypes.Volume {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.mounted[uid])
}

func (m *Manager) podDir(uid types.UID) string { return filepath.Join(m.pods, string(uid)) }

func (m *Manager) volumeDir(uid types.UID, kind, name string) string {
	return filepath.Join(m.podDir(uid), volumesName, kind, name)
}
