// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package scheduler

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-run/berth/api"
	"github.com/berth-run/berth/api/fit"
)

// state is the world as the scheduler reckons with it. Its users hold a lock.
type state struct {
	pods  map[types.UID]*placement
	nodes map[string]*nodeState
}

// placement is a pod and where it counts: on the node that it is bound to, or on
// the one that it is being bound to.
type placement struct {
	pod *corev1.Pod
	// counted is the pod as the node's usage has it; nil when it counts nowhere.
	counted *corev1.Pod
	node    string
}

// nodeState outlives its node while pods are bound to it.
type nodeState struct {
	node  *corev1.Node
	usage fit.Usage
}

func newState() state {
	return state{pods: map[types.UID]*placement{}, nodes: map[string]*nodeState{}}
}

// setPod takes in a pod's newest version and tells whether that frees room.
func (s *state) setPod(pod *corev1.Pod) (freed bool) {
	p := s.pods[pod.UID]
	if p == nil {
		p = &placement{}
		s.pods[pod.UID] = p
	}
	p.pod = pod
	switch {
	case api.IsTerminal(pod):
		return s.uncount(p)
	case pod.Spec.NodeName != "":
		before := p.counted
		s.uncount(p)
		s.count(p, pod, pod.Spec.NodeName)
		return before != nil && shrunk(before, pod)
	}
	return false
}

// shrunk tells whether a pod takes less of a resource than it took before.
func shrunk(before, now *corev1.Pod) bool {
	takes := api.PodReserved(now)
	for name, took := range api.PodReserved(before) {
		if q := takes[name]; q.Cmp(took) < 0 {
			return true
		}
	}
	return false
}

// forgetPod drops a pod and tells whether that frees room.
func (s *state) forgetPod(uid types.UID) (freed bool) {
	p := s.pods[uid]
	if p == nil {
		return false
	}
	delete(s.pods, uid)
	return s.uncount(p)
}

// assume counts a pod on the node that it is being bound to.
func (s *state) assume(pod *corev1.Pod, node string) {
	if p := s.pods[pod.UID]; p != nil {
		s.count(p, pod, node)
	}
}

// unassume takes an assumption back, unless the pod is bound by now or gone. It
// returns the pod's newest version.
func (s *state) unassume(uid types.UID) (*corev1.Pod, bool) {
	p := s.pods[uid]
	if p == nil || p.pod.Spec.NodeName != "" {
		return nil, false
	}
	s.uncount(p)
	return p.pod, true
}

// placed tells whether the pod counts on a node.
func (s *state) placed(uid types.UID) bool {
	p := s.pods[uid]
	return p != nil && p.counted != nil
}

func (s *state) count(p *placement, pod *corev1.Pod, node string) {
	p.counted, p.node = pod, node
	s.at(node).usage.Add(pod)
}

func (s *state) uncount(p *placement) bool {
	if p.counted == nil {
		return false
	}
	n := s.nodes[p.node]
	n.usage.Remove(p.counted)
	if n.node == nil && n.usage.Pods() == 0 {
		delete(s.nodes, p.node)
	}
	p.counted, p.node = nil, ""
	return true
}

func (s *state) at(node string) *nodeState {
	n := s.nodes[node]
	if n == nil {
		n = &nodeState{}
		s.nodes[node] = n
	}
	return n
}

func (s *state) setNode(node *corev1.Node) { s.at(node.Name).node = node }

// retainNodes drops the nodes that keep refuses. What counts on them counts on.
func (s *state) retainNodes(keep func(*corev1.Node) bool) {
	for name, n := range s.nodes {
		if n.node == nil || keep(n.node) {
			continue
		}
		n.node = nil
		if n.usage.Pods() == 0 {
			delete(s.nodes, name)
		}
	}
}

// candidates returns the registered nodes, by name. Their usage follows the
// state's changes.
func (s *state) candidates() []Candidate {
	out := make([]Candidate, 0, len(s.nodes))
	for _, name := range slices.Sorted(maps.Keys(s.nodes)) {
		if n := s.nodes[name]; n.node != nil {
			out = append(out, Candidate{Node: n.node, Usage: &n.usage})
		}
	}
	return out
}
