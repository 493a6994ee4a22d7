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
	"os"
	"path/filepath"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-run/berth/agent/podtypes"
	"github.com/berth-run/berth/api"
	"github.com/berth-run/berth/internal/mounts"
)

// Objects is where the contents of configMap and secret volumes come from. A
// missing object is an error that names it and for which IsNotFound of
// k8s.io/apimachinery/pkg/api/errors is true.
type Objects interface {
	ConfigMap(namespace, name string) (*corev1.ConfigMap, error)
	Secret(namespace, name string) (*corev1.Secret, error)
}

// Manager prepares volumes. Calls for one pod come one after another; different
// pods go in parallel.
type Manager struct {
	pods    string
	objects Objects

	mu      sync.Mutex
	mounted map[types.UID]map[string]podtypes.Volume
}

// New returns a manager of the volumes below the directory pods.
func New(pods string, objects Objects) *Manager {
	return &Manager{pods: pods, objects: objects, mounted: map[types.UID]map[string]podtypes.Volume{}}
}

// Mount prepares every volume of the pod, or brings its contents up to date, and
// returns where each lies. It may be called again at any time.
func (m *Manager) Mount(_ context.Context, pod *corev1.Pod) (map[string]podtypes.Volume, error) {
	volumes := make(map[string]podtypes.Volume, len(pod.Spec.Volumes))
	var errs []error
	for i := range pod.Spec.Volumes {
		v := &pod.Spec.Volumes[i]
		path, err := m.prepare(pod, v)
		if err != nil {
			errs = append(errs, fmt.Errorf("volume %q of pod %s: %w", v.Name, api.FullName(pod), err))
			continue
		}
		volumes[v.Name] = podtypes.Volume{HostPath: path}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.mounted[pod.UID] = volumes
	return maps.Clone(volumes), nil
}

// prepare makes one volume and returns its path on the node.
func (m *Manager) prepare(pod *corev1.Pod, v *corev1.Volume) (string, error) {
	switch {
	case v.HostPath != nil:
		return v.HostPath.Path, checkHostPath(v.HostPath)
	case v.ConfigMap != nil:
		return m.project(pod, v, "configmap", func() (payload, error) { return m.configMapPayload(pod.Namespace, v.ConfigMap) })
	case v.Secret != nil:
		return m.project(pod, v, "secret", func() (payload, error) { return m.secretPayload(pod.Namespace, v.Secret) })
	case v.EmptyDir != nil:
		dir := m.volumeDir(pod.UID, "empty-dir", v.Name)
		return dir, makeEmptyDir(dir, v.EmptyDir)
	}
	return "", errors.New("this kind of volume is not supported")
}

// project writes a payload into a tmpfs, where secrets are kept off the disk,
// and configMaps likewise spare it the writes.
func (m *Manager) project(pod *corev1.Pod, v *corev1.Volume, kind string, load func() (payload, error)) (string, error) {
	files, err := load()
	if err != nil {
		return "", err
	}
	dir := m.volumeDir(pod.UID, kind, v.Name)
	if err := mountTmpfs(dir, "mode=0755"); err != nil {
		return "", err
	}
	return dir, writeAtomically(dir, files)
}

// Volumes returns where the volumes of a pod lie that Mount has prepared.
func (m *Manager) Volumes(uid types.UID) map[string]podtypes.Volume {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.mounted[uid])
}

// Unmount takes away everything that was prepared for the pod, contents of
// emptyDirs included, in this run of the agent or in an earlier one.
func (m *Manager) Unmount(_ context.Context, uid types.UID) error {
	dir := filepath.Join(m.podDir(uid), "volumes")
	if err := mounts.UnmountBelow(dir, 0); err != nil {
		return fmt.Errorf("volumes of pod %s: %w", uid, err)
	}
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("volumes of pod %s: %w", uid, err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.mounted, uid)
	return nil
}

func (m *Manager) podDir(uid types.UID) string { return filepath.Join(m.pods, string(uid)) }

func (m *Manager) volumeDir(uid types.UID, kind, name string) string {
	return filepath.Join(m.podDir(uid), "volumes", kind, name)
}
