// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-run/berth/agent/podtypes"
	"github.com/berth-run/berth/api"
)

// storage is what the sources said, and which of it the node follows. Two sources
// may name a pod alike: the node follows the one that did so first, and the next
// one when that lets go of the name.
type storage struct {
	// order of the sources' declaration.
	order []string
	// held has each source's pods by full name.
	held map[string]map[string]*corev1.Pod
	// owner is the source that is followed, by full name.
	owner map[string]string
	// stores has the store of each held pod that is not of the node's own.
	stores map[types.UID]string
}

func newStorage() *storage {
	return &storage{held: map[string]map[string]*corev1.Pod{}, owner: map[string]string{}, stores: map[types.UID]string{}}
}

func (s *storage) declare(source string) {
	if _, ok := s.held[source]; !ok {
		s.order = append(s.order, source)
		s.held[source] = map[string]*corev1.Pod{}
	}
}

// pods returns what a source said, in no order.
func (s *storage) pods(source string) []*corev1.Pod {
	pods := make([]*corev1.Pod, 0, len(s.held[source]))
	for _, pod := range s.held[source] {
		pods = append(pods, pod)
	}
	return pods
}

// merge takes in what a source says, and returns what is new for the node in the
// order in which it has to be done, and which pods are refused because of their
// names. The operation that the source gives counts only in that SET names
// everything and REMOVE takes away.
func (s *storage) merge(u podtypes.PodUpdate) (changes, []refusal) {
	m := merging{storage: s, source: u.Source, store: u.Store}
	pods := m.usable(u.Pods)
	switch u.Op {
	case podtypes.REMOVE:
		for _, pod := range pods {
			m.remove(pod)
		}
	case podtypes.SET:
		m.removeAllBut(pods)
		fallthrough
	default:
		for _, pod := range pods {
			m.put(pod)
		}
	}
	return m.changes, m.refused
}

// merging is one merge under way.
type merging struct {
	*storage
	source  string
	store   string
	changes changes
	refused []refusal
}

// usable drops what names no pod, and the later of two of one name.
func (m *merging) usable(pods []*corev1.Pod) []*corev1.Pod {
	seen := map[string]bool{}
	var usable []*corev1.Pod
	for _, pod := range pods {
		switch {
		case pod == nil || pod.Name == "" || pod.UID == "":
		case seen[api.FullName(pod)]:
			m.refuse(pod, sourceOf(m.source))
		default:
			seen[api.FullName(pod)] = true
			usable = append(usable, pod)
		}
	}
	return usable
}

// refuse notes a pod that the node does not follow, and by what its name is taken.
// One that is deleted is removed, so that its end is reported.
func (m *merging) refuse(pod *corev1.Pod, by string) {
	if pod.DeletionTimestamp != nil {
		m.changes.add(podtypes.REMOVE, m.source, pod)
		return
	}
	m.refused = append(m.refused, refusal{pod: pod, by: by})
}

func sourceOf(source string) string { return "a pod of source " + source }

func (m *merging) put(pod *corev1.Pod) {
	name := api.FullName(pod)
	held := m.held[m.source][name]
	if m.keeps(held, pod) {
		m.refuse(pod, "a pod of another store")
		return
	}
	m.hold(name, held, pod)
	switch owner, owned := m.owner[name]; {
	case !owned:
		m.owner[name] = m.source
		m.changes.add(podtypes.ADD, m.source, pod)
	case owner != m.source:
		if held == nil || held.UID != pod.UID {
			m.refuse(pod, sourceOf(owner))
		}
	case held.UID != pod.UID:
		m.changes.add(podtypes.REMOVE, m.source, held)
		m.changes.add(podtypes.ADD, m.source, pod)
	default:
		m.changes.add(diff(held, pod), m.source, pod)
	}
}

// keeps tells whether the held pod stays though another one has its name: the two
// are of different stores, and the node's pods are not of the other's.
func (m *merging) keeps(held, pod *corev1.Pod) bool {
	return held != nil && held.UID != pod.UID && m.store != "" && m.stores[held.UID] != m.store
}

// hold takes a pod in, in the place of the one held before.
func (m *merging) hold(name string, before, pod *corev1.Pod) {
	if before != nil {
		delete(m.stores, before.UID)
	}
	if m.store != "" {
		m.stores[pod.UID] = m.store
	}
	m.held[m.source][name] = pod
}

// remove takes a pod away, unless the source has replaced it meanwhile.
func (m *merging) remove(said *corev1.Pod) {
	name := api.FullName(said)
	held := m.held[m.source][name]
	if held == nil || held.UID != said.UID {
		return
	}
	delete(m.held[m.source], name)
	delete(m.stores, held.UID)
	if m.owner[name] != m.source {
		return
	}
	m.changes.add(podtypes.REMOVE, m.source, removal(held, said))
	m.handOver(name)
}

// handOver follows the next source that has the name.
func (m *merging) handOver(name string) {
	delete(m.owner, name)
	for _, source := range m.order {
		if pod := m.held[source][name]; pod != nil {
			m.owner[name] = source
			m.changes.add(podtypes.ADD, source, pod)
			return
		}
	}
}

// removeAllBut removes what a whole set does not name.
func (m *merging) removeAllBut(pods []*corev1.Pod) {
	named := map[string]bool{}
	for _, pod := range pods {
		named[api.FullName(pod)] = true
	}
	for name, pod := range m.held[m.source] {
		if !named[name] {
			m.remove(pod)
		}
	}
}

// refusal is a pod whose name is taken, and by what.
type refusal struct {
	pod *corev1.Pod
	by  string
}

// changes collects pods by operation and source.
type changes []podtypes.PodUpdate

func (c *changes) add(op podtypes.Op, source string, pod *corev1.Pod) {
	if op == 0 {
		return
	}
	for i := range *c {
		if u := &(*c)[i]; u.Op == op && u.Source == source {
			u.Pods = append(u.Pods, pod)
			return
		}
	}
	*c = append(*c, podtypes.PodUpdate{Op: op, Source: source, Pods: []*corev1.Pod{pod}})
}

// deliveryOrder: what goes is done before what takes its name.
var deliveryOrder = []podtypes.Op{
	podtypes.REMOVE, podtypes.ADD, podtypes.UPDATE, podtypes.DELETE, podtypes.RECONCILE,
}

// inOrder returns the changes as they are to be done.
func (c changes) inOrder() []podtypes.PodUpdate {
	slices.SortStableFunc(c, func(a, b podtypes.PodUpdate) int {
		return slices.Index(deliveryOrder, a.Op) - slices.Index(deliveryOrder, b.Op)
	})
	return c
}
