// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package podmanager holds the pods that the node should have.
package podmanager

import (
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-run/berth/api"
)

// Manager holds what the sources want of the node now, whether it runs yet or
// not. A pod is found by UID and by full name. A static pod, which comes from the
// node's own files, may have a mirror pod: its image at the server, under the
// same full name and with a UID of its own. Pods are shared, and changed by
// nobody. Methods are safe for concurrent use.
type Manager struct {
	mu sync.RWMutex
	// pods and mirrors by full name; a name has at most one of each.
	pods, mirrors map[string]*corev1.Pod
	// byUID has the full name of either.
	byUID map[types.UID]string
}

// New returns an empty Manager.
func New() *Manager {
	return &Manager{
		pods:    map[string]*corev1.Pod{},
		mirrors: map[string]*corev1.Pod{},
		byUID:   map[types.UID]string{},
	}
}

// IsMirror tells whether the pod stands for a static pod of its node.
func IsMirror(pod *corev1.Pod) bool {
	_, ok := pod.Annotations[corev1.MirrorPodAnnotationKey]
	return ok
}

func (m *Manager) kind(pod *corev1.Pod) map[string]*corev1.Pod {
	if IsMirror(pod) {
		return m.mirrors
	}
	return m.pods
}

// SetPod adds the pod or its newer version, in place of any other of its name.
func (m *Manager) SetPod(pod *corev1.Pod) {
	m.mu.Lock()
	defer m.mu.Unlock()
	name := api.FullName(pod)
	if old := m.kind(pod)[name]; old != nil {
		delete(m.byUID, old.UID)
	}
	m.kind(pod)[name] = pod
	m.byUID[pod.UID] = name
}

// RemovePod removes the pod of that UID, and does nothing if its name has gone to
// another.
func (m *Manager) RemovePod(pod *corev1.Pod) {
	m.mu.Lock()
	defer m.mu.Unlock()
	name := api.FullName(pod)
	if old := m.kind(pod)[name]; old != nil && old.UID == pod.UID {
		delete(m.kind(pod), name)
		delete(m.byUID, pod.UID)
	}
}

// Pods returns all pods but mirrors, in no order.
func (m *Manager) Pods() []*corev1.Pod {
	m.mu.RLock()
	defer m.mu.RUnlock()
	pods := make([]*corev1.Pod, 0, len(m.pods))
	for _, pod := range m.pods {
		pods = append(pods, pod)
	}
	return pods
}

// PodByFullName returns the pod, not the mirror, of namespace/name.
func (m *Manager) PodByFullName(fullName string) (*corev1.Pod, bool) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	pod, ok := m.pods[fullName]
	return pod, ok
}

// PodByUID returns the pod of that UID. For a mirror it returns the static pod
// that it stands for: what runs has the static pod's UID.
func (m *Manager) PodByUID(uid types.UID) (*corev1.Pod, bool) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	pod, ok := m.pods[m.byUID[uid]]
	return pod, ok
}

// Mirror returns the mirror of the pod, or nil.
func (m *Manager) Mirror(pod *corev1.Pod) *corev1.Pod {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.mirrors[api.FullName(pod)]
}
