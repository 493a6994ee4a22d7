// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package prober

import (
	"math/rand/v2"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/berth-run/berth/agent/podtypes"
)

// SyncPod has the containers probed that run by this reading of the pod, and those no
// more that do not.
func (m *Manager) SyncPod(pod *corev1.Pod, reading *podtypes.PodStatus) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, c := range probed(pod) {
		m.syncContainer(pod, c, reading)
	}
	if len(m.begin) > 0 {
		select {
		case m.wake <- struct{}{}:
		default:
		}
	}
}

func (m *Manager) syncContainer(pod *corev1.Pod, c *corev1.Container, reading *podtypes.PodStatus) {
	latest := reading.Latest(c.Name)
	now := m.pods[pod.UID][c.Name]
	switch {
	case latest == nil || latest.State == podtypes.ContainerExited:
		if now != nil {
			now.stopAll()
		}
	case latest.State == podtypes.ContainerRunning && (now == nil || now.id != latest.ID):
		m.forget(now)
		m.watch(pod, c, latest, podIP(pod, reading, m.cfg.HostIPs))
	}
}

// watch begins the probes of an instance.
func (m *Manager) watch(pod *corev1.Pod, c *corev1.Container, running *podtypes.ContainerStatus, podIP string) {
	i := newInstance(pod, c, running.ID)
	if m.pods[pod.UID] == nil {
		m.pods[pod.UID] = map[string]*instance{}
	}
	m.pods[pod.UID][c.Name], m.byID[i.id] = i, i
	for kind, p := range i.due(c) {
		w := &worker{manager: m, instance: i, pod: pod, container: c, podIP: podIP, kind: kind, probe: p}
		w.delay = firstDelay(p, time.Since(running.StartedAt), running.StartedAt.Before(m.began), rand.Float64())
		i.workers[kind] = w
		m.begin = append(m.begin, w)
	}
}

// forget drops an instance, if it is not nil.
func (m *Manager) forget(i *instance) {
	if i != nil {
		i.stopAll()
		delete(m.byID, i.id)
	}
}

// StopLivenessAndStartup ends the probes for which a container would be stopped, of a
// pod that is ending. Its readiness goes on being asked for.
func (m *Manager) StopLivenessAndStartup(uid types.UID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, i := range m.pods[uid] {
		i.ending = true
		i.stop(podtypes.Liveness, podtypes.Startup)
	}
}

// RemovePod ends the probes of a pod of which nothing runs any more.
func (m *Manager) RemovePod(uid types.UID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.remove(uid)
}

// CleanupPods ends the probes of all pods that keep does not hold.
func (m *Manager) CleanupPods(keep sets.Set[types.UID]) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for uid := range m.pods {
		if !keep.Has(uid) {
			m.remove(uid)
		}
	}
}

func (m *Manager) remove(uid types.UID) {
	for _, i := range m.pods[uid] {
		m.forget(i)
	}
	delete(m.pods, uid)
}

// podIP is the address at which the node reaches the pod.
func podIP(pod *corev1.Pod, reading *podtypes.PodStatus, hostIPs []string) string {
	ips := hostIPs
	if !pod.Spec.HostNetwork {
		ips = nil
		if current := reading.Current(); current != nil {
			ips = current.IPs
		}
	}
	if len(ips) == 0 {
		return ""
	}
	return ips[0]
}
