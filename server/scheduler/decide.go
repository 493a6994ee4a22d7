// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package scheduler

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-run/berth/api"
	"github.com/berth-run/berth/api/fit"
)

// Candidate is a node as the decision sees it.
type Candidate struct {
	Node  *corev1.Node
	Usage *fit.Usage
}

// Unschedulable says why no node takes a pod.
type Unschedulable struct {
	// Failures holds each node's reasons, by name.
	Failures map[string][]fit.Failure
}

// namedNodes is up to how many nodes the message names each with its figures;
// beyond, it counts nodes by reason.
const namedNodes = 4

func (u *Unschedulable) Error() string {
	n := len(u.Failures)
	if n == 0 {
		return "no nodes are registered"
	}
	var parts []string
	if n <= namedNodes {
		for name, failures := range u.Failures {
			for _, f := range failures {
				parts = append(parts, name+": "+f.Message())
			}
		}
	} else {
		count := map[string]int{}
		for _, failures := range u.Failures {
			for _, f := range failures {
				count[f.Summary]++
			}
		}
		for summary, nodes := range count {
			parts = append(parts, fmt.Sprintf("%d %s", nodes, summary))
		}
	}
	slices.Sort(parts)
	return fmt.Sprintf("0/%d nodes are available: %s.", n, strings.Join(parts, "; "))
}

// Decide returns the name of the node that pod shall run on: of those that are
// ready, not cordoned, and have room for it, the one with the largest share of
// its cpu and memory free (least requested), then with the fewest pods, then the
// first by name. Where none will do, the error is an *Unschedulable.
func Decide(pod *corev1.Pod, candidates []Candidate) (string, error) {
	best, bestScore := -1, score{}
	failures := map[string][]fit.Failure{}
	for i, c := range candidates {
		if f := unfit(pod, c); len(f) > 0 {
			failures[c.Node.Name] = f
			continue
		}
		s := scoreOf(pod, c)
		if best < 0 || s.better(bestScore) {
			best, bestScore = i, s
		}
	}
	if best < 0 {
		return "", &Unschedulable{Failures: failures}
	}
	return candidates[best].Node.Name, nil
}

// unfit returns why the node is out of the question. A node that is not ready
// says only that.
func unfit(pod *corev1.Pod, c Candidate) []fit.Failure {
	switch {
	case !isReady(c.Node):
		return []fit.Failure{{Reason: "NodeNotReady", Summary: "node(s) were not ready"}}
	case c.Node.Spec.Unschedulable:
		return []fit.Failure{{Reason: "NodeUnschedulable", Summary: "node(s) were unschedulable"}}
	}
	return fit.Check(pod, c.Node, c.Usage)
}

func isReady(node *corev1.Node) bool {
	c := api.NodeCondition(&node.Status, corev1.NodeReady)
	return c != nil && c.Status == corev1.ConditionTrue
}

// score orders the nodes that would do.
type score struct {
	free float64
	pods int
	name string
}

func (s score) better(other score) bool {
	switch {
	case s.free != other.free:
		return s.free > other.free
	case s.pods != other.pods:
		return s.pods < other.pods
	}
	return s.name < other.name
}

var scored = []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory}

func scoreOf(pod *corev1.Pod, c Candidate) score {
	s := score{pods: c.Usage.Pods(), name: c.Node.Name}
	requests := api.PodRequests(pod)
	for _, name := range scored {
		capacity := c.Node.Status.Allocatable[name]
		request := requests[name]
		if total := capacity.MilliValue(); total > 0 {
			s.free += 1 - float64(c.Usage.Requested(name)+request.MilliValue())/float64(total)
		}
	}
	return s
}
