// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package fit

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
)

func node(change func(*corev1.Node)) *corev1.Node {
	n := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: "n1", Labels: map[string]string{"disk": "ssd"}},
		Status: corev1.NodeStatus{Allocatable: corev1.ResourceList{
			corev1.ResourceCPU:    resource.MustParse("2"),
			corev1.ResourceMemory: resource.MustParse("1Gi"),
			corev1.ResourcePods:   resource.MustParse("3"),
		}},
	}
	if change != nil {
		change(n)
	}
	return n
}

func pod(name string, change func(*corev1.PodSpec)) *corev1.Pod {
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID(name)},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c"}}},
	}
	if change != nil {
		change(&p.Spec)
	}
	return p
}

func requests(cpu, memory string) func(*corev1.PodSpec) {
	return func(s *corev1.PodSpec) {
		s.Containers[0].Resources.Requests = corev1.ResourceList{
			corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory),
		}
	}
}

func port(ip string, protocol corev1.Protocol, number int32) func(*corev1.PodSpec) {
	return func(s *corev1.PodSpec) {
		s.Containers[0].Ports = []corev1.ContainerPort{{HostIP: ip, Protocol: protocol, HostPort: number}}
	}
}

func TestCheck(t *testing.T) {
	taint := corev1.Taint{Key: "gpu", Value: "yes", Effect: corev1.TaintEffectNoSchedule}
	for name, tc := range map[string]struct {
		pod    *corev1.Pod
		node   *corev1.Node
		beside []*corev1.Pod
		want   []Failure
	}{
		"fits": {
			pod: pod("a", requests("1", "512Mi")), beside: []*corev1.Pod{pod("b", requests("1", "512Mi"))},
		},
		"cpu and memory are both named": {
			pod: pod("a", requests("1500m", "800Mi")), beside: []*corev1.Pod{pod("b", requests("1", "512Mi"))},
			want: []Failure{
				{"OutOfcpu", "Insufficient cpu", "1500m requested, 1 of 2 free"},
				{"OutOfmemory", "Insufficient memory", "800Mi requested, 512Mi of 1Gi free"},
			},
		},
		"asks nothing, so a full node does not matter": {
			pod: pod("a", nil), beside: []*corev1.Pod{pod("b", requests("3", "2Gi"))},
		},
		"an init container may ask for more than the containers": {
			pod: pod("a", func(s *corev1.PodSpec) {
				s.InitContainers = []corev1.Container{{Name: "i", Resources: corev1.ResourceRequirements{
					Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("3")}}}}
			}),
			want: []Failure{{"OutOfcpu", "Insufficient cpu", "3 requested, 2 of 2 free"}},
		},
		"the overhead of its class counts": {
			pod: pod("a", func(s *corev1.PodSpec) {
				requests("1", "1Mi")(s)
				s.Overhead = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1500m")}
			}),
			want: []Failure{{"OutOfcpu", "Insufficient cpu", "2500m requested, 2 of 2 free"}},
		},
		"a pod as a whole asks for more than its containers": {
			pod: pod("a", func(s *corev1.PodSpec) {
				requests("1", "1Mi")(s)
				s.Resources = &corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("3")}}
			}),
			want: []Failure{{"OutOfcpu", "Insufficient cpu", "3 requested, 2 of 2 free"}},
		},
		"too many pods": {
			pod: pod("a", nil), beside: []*corev1.Pod{pod("b", nil), pod("c", nil), pod("d", nil)},
			want: []Failure{{"OutOfpods", "Too many pods", "3 of 3 run"}},
		},
		"a pod that ended takes nothing": {
			pod: pod("a", requests("2", "1Gi")), beside: []*corev1.Pod{func() *corev1.Pod {
				p := pod("b", requests("2", "1Gi"))
				p.Status.Phase = corev1.PodSucceeded
				return p
			}()},
		},
		"host port taken on every address": {
			pod: pod("a", port("127.0.0.1", "", 80)), beside: []*corev1.Pod{pod("b", port("", corev1.ProtocolTCP, 80))},
			want: []Failure{{"NodePorts", "node(s) didn't have free ports for the requested pod ports", "80/TCP is taken by pod default/b"}},
		},
		"host port of a sidecar": {
			pod: pod("a", func(s *corev1.PodSpec) {
				port("", "", 80)(s)
				s.InitContainers, s.Containers = s.Containers, nil
				s.InitContainers[0].RestartPolicy = ptr.To(corev1.ContainerRestartPolicyAlways)
			}), beside: []*corev1.Pod{pod("b", port("", corev1.ProtocolTCP, 80))},
			want: []Failure{{"NodePorts", "node(s) didn't have free ports for the requested pod ports", "80/TCP is taken by pod default/b"}},
		},
		"same port on another address or protocol": {
			pod: pod("a", port("127.0.0.1", "", 80)),
			beside: []*corev1.Pod{
				pod("b", port("127.0.0.2", corev1.ProtocolTCP, 80)), pod("c", port("127.0.0.1", corev1.ProtocolUDP, 80)),
			},
		},
		"node selector": {
			pod:  pod("a", func(s *corev1.PodSpec) { s.NodeSelector = map[string]string{"disk": "hdd"} }),
			want: []Failure{{"NodeAffinity", "node(s) didn't match Pod's node affinity/selector", ""}},
		},
		"taint": {
			pod:  pod("a", nil),
			node: node(func(n *corev1.Node) { n.Spec.Taints = []corev1.Taint{taint} }),
			want: []Failure{{"Taint", "node(s) had untolerated taint {gpu=yes:NoSchedule}", ""}},
		},
		"tolerated taint": {
			pod: pod("a", func(s *corev1.PodSpec) {
				s.Tolerations = []corev1.Toleration{{Key: "gpu", Operator: corev1.TolerationOpExists}}
			}),
			node: node(func(n *corev1.Node) { n.Spec.Taints = []corev1.Taint{taint} }),
		},
		"a cordon does not concern a bound pod": {
			pod: pod("a", nil),
			node: node(func(n *corev1.Node) {
				n.Spec.Taints = []corev1.Taint{{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule}}
			}),
		},
	} {
		t.Run(name, func(t *testing.T) {
			n := tc.node
			if n == nil {
				n = node(nil)
			}
			if diff := cmp.Diff(tc.want, Check(tc.pod, n, UsageOf(tc.beside))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestUsageRemoveGivesBack(t *testing.T) {
	full := pod("b", func(s *corev1.PodSpec) {
		requests("2", "1Gi")(s)
		port("", "", 80)(s)
	})
	usage := UsageOf([]*corev1.Pod{full})
	usage.Remove(full)
	if got := Check(full, node(nil), usage); got != nil {
		t.Errorf("after Remove: %v", got)
	}
}

// A resize is reckoned with before the node has made it true, and after, until it
// has; one that the node cannot do is not.
func TestUsageOfAResizedPod(t *testing.T) {
	resized := func(spec, allocated, actual string, conditions ...corev1.PodCondition) *corev1.Pod {
		p := pod("a", requests(spec, "1Mi"))
		p.Status.Conditions = conditions
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{
			Name: "c", AllocatedResources: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(allocated)},
			Resources: &corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(actual)}},
		}}
		return p
	}
	pending := func(reason string) corev1.PodCondition {
		return corev1.PodCondition{Type: corev1.PodResizePending, Status: corev1.ConditionTrue, Reason: reason}
	}
	for name, tc := range map[string]struct {
		pod  *corev1.Pod
		want int64
	}{
		"grows":      {resized("2", "1", "1"), 2000},
		"shrinks":    {resized("1", "1", "2"), 2000},
		"deferred":   {resized("2", "1", "1", pending(corev1.PodReasonDeferred)), 2000},
		"infeasible": {resized("9", "1", "1", pending(corev1.PodReasonInfeasible)), 1000},
	} {
		usage := &Usage{}
		usage.Add(tc.pod)
		if got := usage.Requested(corev1.ResourceCPU); got != tc.want {
			t.Errorf("%s: %d milli, want %d", name, got, tc.want)
		}
		if usage.Remove(tc.pod); usage.Requested(corev1.ResourceCPU) != 0 {
			t.Errorf("%s: not all is given back", name)
		}
	}
}
