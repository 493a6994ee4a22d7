// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package table

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/berth-run/berth/api"
)

var now = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

func ago(d time.Duration) metav1.Time { return metav1.NewTime(now.Add(-d)) }

func running(name string, ready bool) corev1.ContainerStatus {
	return corev1.ContainerStatus{
		Name: name, Ready: ready, Started: ptr.To(true),
		State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}},
	}
}

func waiting(name, reason string) corev1.ContainerStatus {
	return corev1.ContainerStatus{Name: name, State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason}}}
}

func exited(name string, code int32, reason string) corev1.ContainerStatus {
	return corev1.ContainerStatus{Name: name, State: corev1.ContainerState{
		Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Reason: reason}}}
}

func TestPodStatus(t *testing.T) {
	containers := func(status ...corev1.ContainerStatus) *corev1.Pod {
		p := &corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodRunning, ContainerStatuses: status}}
		for _, s := range status {
			p.Spec.Containers = append(p.Spec.Containers, corev1.Container{Name: s.Name})
		}
		return p
	}
	inits := func(status ...corev1.ContainerStatus) *corev1.Pod {
		p := containers(waiting("app", "PodInitializing"))
		p.Status.Phase = corev1.PodPending
		p.Status.InitContainerStatuses = status
		for _, s := range status {
			p.Spec.InitContainers = append(p.Spec.InitContainers, corev1.Container{Name: s.Name})
		}
		return p
	}
	change := func(p *corev1.Pod, f func(*corev1.Pod)) *corev1.Pod { f(p); return p }

	for name, tc := range map[string]struct {
		pod           *corev1.Pod
		status, ready string
	}{
		"new":       {&corev1.Pod{Spec: corev1.PodSpec{Containers: make([]corev1.Container, 1)}, Status: corev1.PodStatus{Phase: corev1.PodPending}}, "Pending", "0/1"},
		"running":   {containers(running("a", true), running("b", false)), "Running", "1/2"},
		"creating":  {containers(waiting("a", "ContainerCreating")), "ContainerCreating", "0/1"},
		"crashing":  {containers(running("a", true), waiting("b", "CrashLoopBackOff")), "CrashLoopBackOff", "1/2"},
		"exit code": {containers(exited("a", 3, "")), "ExitCode:3", "0/1"},
		"one completed, one running": {change(containers(exited("a", 0, "Completed"), running("b", true)), func(p *corev1.Pod) {
			p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
		}), "Running", "1/2"},
		"evicted":            {&corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodFailed, Reason: "Evicted"}}, "Evicted", "0/0"},
		"init waits":         {inits(exited("i", 0, "Completed"), waiting("j", "PodInitializing")), "Init:1/2", "0/1"},
		"init runs":          {inits(running("i", false)), "Init:0/1", "0/1"},
		"init fails":         {inits(exited("i", 1, "Error")), "Init:Error", "0/1"},
		"init backs off":     {inits(waiting("i", "CrashLoopBackOff")), "Init:CrashLoopBackOff", "0/1"},
		"terminating":        {change(containers(running("a", true)), func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{} }), "Terminating", "1/1"},
		"done while deleted": {change(containers(exited("a", 0, "Completed")), func(p *corev1.Pod) { p.DeletionTimestamp, p.Status.Phase = &metav1.Time{}, corev1.PodSucceeded }), "Completed", "0/1"},
	} {
		t.Run(name, func(t *testing.T) {
			cells := Row(api.Pods, tc.pod, now).Cells
			if cells[2] != tc.status || cells[1] != tc.ready {
				t.Errorf("status %v, ready %v; want %s, %s", cells[2], cells[1], tc.status, tc.ready)
			}
		})
	}
}

// TestARefusedPodShowsWhy, not that its containers never ran.
func TestARefusedPodShowsWhy(t *testing.T) {
	never := corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: neverSeen, ExitCode: 137}}
	pod := &corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodFailed, Reason: "OutOfcpu", ContainerStatuses: []corev1.ContainerStatus{{State: never}}}}
	if got := PodStatus(pod); got != "OutOfcpu" {
		t.Errorf("status %s", got)
	}
	pod.Status.Reason = ""
	if got := PodStatus(pod); got != neverSeen {
		t.Errorf("status %s of a pod without a reason", got)
	}
}

// TestB032SidecarsCountAndDoNotKeepThePodInInit: a sidecar runs for as long as the
// pod, so it is no init container that has yet to finish.
func TestB032SidecarsCountAndDoNotKeepThePodInInit(t *testing.T) {
	p := &corev1.Pod{
		Spec: corev1.PodSpec{
			InitContainers: []corev1.Container{{Name: "side", RestartPolicy: ptr.To(corev1.ContainerRestartPolicyAlways)}},
			Containers:     []corev1.Container{{Name: "app"}},
		},
		Status: corev1.PodStatus{
			Phase:                 corev1.PodRunning,
			InitContainerStatuses: []corev1.ContainerStatus{running("side", true)},
			ContainerStatuses:     []corev1.ContainerStatus{running("app", true)},
		},
	}
	cells := Row(api.Pods, p, now).Cells
	if cells[1] != "2/2" || cells[2] != "Running" {
		t.Errorf("READY %v, STATUS %v", cells[1], cells[2])
	}
}

func TestRows(t *testing.T) {
	crashed := running("a", true)
	crashed.RestartCount = 3
	crashed.LastTerminationState.Terminated = &corev1.ContainerStateTerminated{FinishedAt: ago(90 * time.Second)}
	for name, tc := range map[string]struct {
		kind *api.Kind
		obj  api.Object
		want []any
	}{
		"pod": {api.Pods, &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: "web", CreationTimestamp: ago(5 * time.Hour)},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "a"}}, NodeName: "n1"},
			Status:     corev1.PodStatus{Phase: corev1.PodRunning, PodIP: "10.0.0.2", ContainerStatuses: []corev1.ContainerStatus{crashed}},
		}, []any{"web", "1/1", "Running", "3 (90s ago)", "5h", "10.0.0.2", "n1", "<none>", "<none>"}},
		"node": {api.Nodes, &corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: "n1", CreationTimestamp: ago(time.Minute), Labels: map[string]string{"node-role.kubernetes.io/edge": ""}},
			Spec:       corev1.NodeSpec{Unschedulable: true},
			Status: corev1.NodeStatus{
				Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}},
				Addresses:  []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: "192.0.2.1"}},
				NodeInfo:   corev1.NodeSystemInfo{KubeletVersion: "v1", OSImage: "Debian", KernelVersion: "6", ContainerRuntimeVersion: "containerd://2"},
			},
		}, []any{"n1", "Ready,SchedulingDisabled", "edge", "60s", "v1", "192.0.2.1", "<none>", "Debian", "6", "containerd://2"}},
		"secret":    {api.Secrets, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "s"}, Type: "Opaque", Data: map[string][]byte{"a": nil}}, []any{"s", "Opaque", 1, "<unknown>"}},
		"configMap": {api.ConfigMaps, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "c"}, BinaryData: map[string][]byte{"a": nil}}, []any{"c", 1, "<unknown>"}},
		"priority":  {api.PriorityClasses, &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: "high"}, Value: 7, GlobalDefault: true}, []any{"high", int64(7), true, "<unknown>", "PreemptLowerPriority"}},
		"runtime":   {api.RuntimeClasses, &nodev1.RuntimeClass{ObjectMeta: metav1.ObjectMeta{Name: "vm"}, Handler: "kata"}, []any{"vm", "kata", "<unknown>"}},
		"lease":     {api.Leases, &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: "l"}, Spec: coordinationv1.LeaseSpec{HolderIdentity: ptr.To("me")}}, []any{"l", "me", "<unknown>"}},
		"namespace": {api.Namespaces, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "default"}, Status: corev1.NamespaceStatus{Phase: "Active"}}, []any{"default", "Active", "<unknown>"}},
		"event": {api.Events, &corev1.Event{
			ObjectMeta: metav1.ObjectMeta{Name: "web.1"}, Type: "Normal", Reason: "Started", Message: "Started container a\n",
			FirstTimestamp: ago(time.Hour), LastTimestamp: ago(time.Minute), Count: 3,
			InvolvedObject: corev1.ObjectReference{Kind: "Pod", Name: "web", FieldPath: "spec.containers{a}"},
			Source:         corev1.EventSource{Component: "berth-agent", Host: "n1"}, ReportingController: "berth-agent",
		}, []any{"60s", "Normal", "Started", "pod/web", "spec.containers{a}", "berth-agent, n1", "Started container a", "60m", 3, "web.1"}},
		"series of events": {api.Events, &corev1.Event{
			ObjectMeta: metav1.ObjectMeta{Name: "web.1"}, Type: "Normal", Reason: "Scheduled", Message: "assigned",
			EventTime: metav1.MicroTime(ago(time.Hour)), Series: &corev1.EventSeries{Count: 7, LastObservedTime: metav1.MicroTime(ago(time.Minute))},
			InvolvedObject: corev1.ObjectReference{Kind: "Pod", Name: "web"}, ReportingController: "other-scheduler",
		}, []any{"60s", "Normal", "Scheduled", "pod/web", "", "other-scheduler", "assigned", "60m", 7, "web.1"}},
		"event without times": {api.Events, &corev1.Event{
			ObjectMeta: metav1.ObjectMeta{Name: "web.1", CreationTimestamp: ago(time.Minute)}, Type: "Normal", Reason: "R",
			InvolvedObject: corev1.ObjectReference{Kind: "Pod", Name: "web"}, Source: corev1.EventSource{Component: "c"},
		}, []any{"60s", "Normal", "R", "pod/web", "", "c", "", "60s", 1, "web.1"}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, Row(tc.kind, tc.obj, now).Cells); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestEveryKindHasAsManyCellsAsColumns(t *testing.T) {
	for _, k := range api.Kinds {
		if cells, columns := Row(k, k.New(), now).Cells, Columns(k); len(cells) != len(columns) {
			t.Errorf("%s: %d cells, %d columns", k.Name, len(cells), len(columns))
		}
	}
}
