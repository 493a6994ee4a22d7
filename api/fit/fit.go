// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package fit decides whether a pod fits a node. The scheduler asks it of every
// node, and a node asks it of itself before it runs what it was given, so that
// both mean the same. Its functions are pure.
package fit

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	schedulingv1 "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/klog/v2"

	"github.com/berth-run/berth/api"
)

// Failure is one reason why a pod does not fit.
type Failure struct {
	// Reason in the words of the kubelet's admission, such as OutOfcpu.
	Reason string
	// Summary is the same for all nodes that refuse for this reason, in the words
	// of the Kubernetes scheduler, such as Insufficient cpu.
	Summary string
	// Detail has the figures of this node; it may be empty.
	Detail string
}

// Message is the summary with its detail.
func (f Failure) Message() string {
	if f.Detail == "" {
		return f.Summary
	}
	return f.Summary + ": " + f.Detail
}

// Check returns all reasons why pod does not fit node beside what runs there, or
// nil. Whether the node is ready or cordoned is not its business.
func Check(pod *corev1.Pod, node *corev1.Node, usage *Usage) []Failure {
	var out []Failure
	for _, check := range []func(*corev1.Pod, *corev1.Node, *Usage) []Failure{
		checkResources, checkHostPorts, checkNodeSelector, checkTaints,
	} {
		out = append(out, check(pod, node, usage)...)
	}
	return out
}

func checkResources(pod *corev1.Pod, node *corev1.Node, usage *Usage) []Failure {
	var out []Failure
	allocatable := node.Status.Allocatable
	if slots, ok := allocatable[corev1.ResourcePods]; ok && int64(usage.pods)+1 > slots.Value() {
		out = append(out, Failure{"OutOfpods", "Too many pods", fmt.Sprintf("%d of %d run", usage.pods, slots.Value())})
	}
	requests := api.PodRequests(pod)
	for _, name := range sortedNames(requests) {
		want := requests[name]
		have, used := allocatable[name], usage.requests[name]
		free := have.DeepCopy()
		free.Sub(used)
		if want.Sign() > 0 && want.Cmp(free) > 0 {
			out = append(out, Failure{
				Reason:  "OutOf" + string(name),
				Summary: fmt.Sprintf("Insufficient %s", name),
				Detail:  fmt.Sprintf("%s requested, %s of %s free", want.String(), positive(free), have.String()),
			})
		}
	}
	return out
}

func positive(q resource.Quantity) string {
	if q.Sign() < 0 {
		return "0"
	}
	return q.String()
}

func checkHostPorts(pod *corev1.Pod, _ *corev1.Node, usage *Usage) []Failure {
	for _, p := range hostPorts(pod) {
		if holder, taken := usage.portHolder(p); taken {
			return []Failure{{
				"NodePorts", "node(s) didn't have free ports for the requested pod ports",
				fmt.Sprintf("%s is taken by pod %s", p, holder),
			}}
		}
	}
	return nil
}

func checkNodeSelector(pod *corev1.Pod, node *corev1.Node, _ *Usage) []Failure {
	match, err := nodeaffinity.GetRequiredNodeAffinity(pod).Match(node)
	switch {
	case err != nil:
		return []Failure{{"NodeAffinity", "node selector is not valid", err.Error()}}
	case !match:
		return []Failure{{"NodeAffinity", "node(s) didn't match Pod's node affinity/selector", ""}}
	}
	return nil
}

// checkTaints looks for taints that keep pods from starting. A cordon is a taint
// too (node.kubernetes.io/unschedulable), but one that does not concern a pod
// that was bound by name.
func checkTaints(pod *corev1.Pod, node *corev1.Node, _ *Usage) []Failure {
	repels := func(t *corev1.Taint) bool {
		return t.Key != corev1.TaintNodeUnschedulable &&
			(t.Effect == corev1.TaintEffectNoSchedule || t.Effect == corev1.TaintEffectNoExecute)
	}
	taint, found := schedulingv1.FindMatchingUntoleratedTaint(klog.Logger{}, node.Spec.Taints, pod.Spec.Tolerations, repels, false)
	if !found {
		return nil
	}
	return []Failure{{"Taint", fmt.Sprintf("node(s) had untolerated taint {%s}", taint.ToString()), ""}}
}
