// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package wait

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/berth-run/berth/api"
)

// podOf is a pod that is not Ready, with containers in these states.
func podOf(policy corev1.RestartPolicy, states ...corev1.ContainerStatus) *corev1.Pod {
	p := &corev1.Pod{Spec: corev1.PodSpec{RestartPolicy: policy}, Status: corev1.PodStatus{
		Phase: corev1.PodPending, ContainerStatuses: states,
		Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse}},
	}}
	for _, s := range states {
		p.Spec.Containers = append(p.Spec.Containers, corev1.Container{Name: s.Name})
	}
	return p
}

// with is a pod of one container that is always restarted, changed by the functions.
func with(change ...func(*corev1.Pod)) *corev1.Pod {
	p := podOf(corev1.RestartPolicyAlways, waits("c", "ContainerCreating", ""))
	for _, f := range change {
		f(p)
	}
	return p
}

func phased(phase corev1.PodPhase) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Status.Phase = phase }
}

func isReady(p *corev1.Pod) { p.Status.Conditions[0].Status = corev1.ConditionTrue }

func isDeleted(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{} }

func isBehind(p *corev1.Pod) { p.Generation, p.Status.ObservedGeneration = 3, 2 }

func inits(states ...corev1.ContainerStatus) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Status.InitContainerStatuses = states
		for _, s := range states {
			p.Spec.InitContainers = append(p.Spec.InitContainers, corev1.Container{Name: s.Name})
		}
	}
}

func waits(name, reason, message string) corev1.ContainerStatus {
	return corev1.ContainerStatus{Name: name, State: corev1.ContainerState{
		Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}}}
}

func runs(name string) corev1.ContainerStatus {
	return corev1.ContainerStatus{Name: name, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}
}

func exited(name string, code int32, reason string) corev1.ContainerStatus {
	return corev1.ContainerStatus{Name: name, State: corev1.ContainerState{
		Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Reason: reason}}}
}

func crashing(name string, code int32) corev1.ContainerStatus {
	s := waits(name, "CrashLoopBackOff", "back-off 10s")
	s.LastTerminationState = exited(name, code, "Error").State
	return s
}

const (
	always    = corev1.RestartPolicyAlways
	onFailure = corev1.RestartPolicyOnFailure
	never     = corev1.RestartPolicyNever
)

// TestB089ReadyIsGivenUpAsSoonAsItIsImpossible: from any one state of a pod it is told
// whether it may still become Ready, and if not, of what it has ended.
func TestB089ReadyIsGivenUpAsSoonAsItIsImpossible(t *testing.T) {
	for name, tc := range map[string]struct {
		pod  *corev1.Pod
		want Verdict
	}{
		"new":       {&corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodPending}}, Verdict{Pending, "Pending"}},
		"creating":  {with(), Verdict{Pending, "ContainerCreating"}},
		"ready":     {with(isReady), Verdict{Met, "Ready is True"}},
		"succeeded": {with(phased(corev1.PodSucceeded)), Verdict{Completed, "it has succeeded"}},
		"failed by its node": {with(phased(corev1.PodFailed), func(p *corev1.Pod) {
			p.Status.Reason, p.Status.Message = "OutOfcpu", "Node didn't have enough cpu"
		}), Verdict{Failed, "it has failed: OutOfcpu: Node didn't have enough cpu"}},
		"failed by a container": {func() *corev1.Pod {
			p := podOf(never, exited("a", 0, "Completed"), exited("b", 137, "OOMKilled"))
			p.Status.Phase = corev1.PodFailed
			return p
		}(), Verdict{Failed, "it has failed: container b ended with exit code 137 (OOMKilled)"}},

		"being deleted":            {with(isDeleted), Verdict{Gone, "it is being deleted"}},
		"ready, but being deleted": {with(isReady, isDeleted), Verdict{Gone, "it is being deleted"}},
		"ended and being deleted":  {with(phased(corev1.PodSucceeded), isDeleted), Verdict{Completed, "it has succeeded"}},
		"ready of an earlier spec": {with(isReady, isBehind), Verdict{Pending, "its node has yet to report on its newest spec"}},

		"never restarted, failed": {podOf(never, exited("a", 0, "Completed"), exited("b", 3, "Error"), runs("c")),
			Verdict{Failed, "container b ended with exit code 3, and is not started again"}},
		"never restarted, completed": {podOf(never, exited("a", 0, "Completed"), runs("b")),
			Verdict{Completed, "container a ended with exit code 0, and is not started again"}},
		"restarted on failure, completed": {podOf(onFailure, exited("a", 0, "Completed"), runs("b")),
			Verdict{Completed, "container a ended with exit code 0, and is not started again"}},
		"restarted on failure, failed": {podOf(onFailure, exited("a", 1, "Error"), runs("b")), Verdict{Pending, "Error"}},
		"always restarted":             {podOf(always, exited("a", 1, "Error")), Verdict{Pending, "Error"}},
		"restarted by a policy of its own": {func() *corev1.Pod {
			p := podOf(never, exited("a", 1, "Error"))
			p.Spec.Containers[0].RestartPolicy = ptr.To(corev1.ContainerRestartPolicyAlways)
			return p
		}(), Verdict{Pending, "Error"}},
		"restarted by rules": {func() *corev1.Pod {
			p := podOf(never, exited("a", 1, "Error"))
			p.Spec.Containers[0].RestartPolicyRules = []corev1.ContainerRestartRule{{
				Action:    corev1.ContainerRestartRuleActionRestart,
				ExitCodes: &corev1.ContainerRestartRuleOnExitCodes{Operator: corev1.ContainerRestartRuleOnExitCodesOpIn, Values: []int32{1}},
			}}
			return p
		}(), Verdict{Pending, "Error"}},
		"init container completed": {func() *corev1.Pod {
			p := podOf(never, waits("a", "PodInitializing", ""))
			inits(exited("i", 0, "Completed"))(p)
			return p
		}(), Verdict{Pending, "PodInitializing"}},
		"init container failed for good": {func() *corev1.Pod {
			p := podOf(never, waits("a", "PodInitializing", ""))
			inits(exited("i", 1, "Error"))(p)
			return p
		}(), Verdict{Failed, "container i ended with exit code 1, and is not started again"}},
		"crash loop": {podOf(always, crashing("c", 3)), Verdict{Pending, "container c: CrashLoopBackOff: back-off 10s (it ended with exit code 3)"}},

		"pull failed":          {podOf(always, waits("c", "ErrImagePull", "cannot pull image")), Verdict{ImageError, "container c: ErrImagePull: cannot pull image"}},
		"pull backs off":       {podOf(always, runs("a"), waits("c", "ImagePullBackOff", "")), Verdict{ImageError, "container c: ImagePullBackOff"}},
		"no such name":         {podOf(always, waits("c", "InvalidImageName", "")), Verdict{ImageError, "container c: InvalidImageName"}},
		"never pulled":         {podOf(always, waits("c", "ErrImageNeverPull", "")), Verdict{ImageError, "container c: ErrImageNeverPull"}},
		"of an init container": {with(inits(waits("i", "ErrImagePull", ""))), Verdict{ImageError, "container i: ErrImagePull"}},
		"of an earlier spec": {func() *corev1.Pod {
			p := podOf(always, waits("c", "ImagePullBackOff", ""))
			isBehind(p)
			return p
		}(), Verdict{Pending, "its node has yet to report on its newest spec"}},

		"missing secret":  {podOf(always, waits("c", "CreateContainerConfigError", `secret "s" not found`)), Verdict{Pending, `container c: CreateContainerConfigError: secret "s" not found`}},
		"runtime trouble": {podOf(always, waits("c", "ImageInspectError", "no answer")), Verdict{Pending, "container c: ImageInspectError: no answer"}},
		"fits nowhere": {with(func(p *corev1.Pod) {
			p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: "Unschedulable", Message: "0/2 nodes"}}
		}), Verdict{Pending, "Unschedulable: 0/2 nodes"}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := verdict(t, "ready", api.Pods, tc.pod); got != tc.want {
				t.Errorf("%+v, want %+v", got, tc.want)
			}
		})
	}
}

func verdict(t *testing.T, goal string, k *api.Kind, obj api.Object) Verdict {
	t.Helper()
	g, err := Parse(goal)
	if err != nil {
		t.Fatal(err)
	}
	v, err := g.Check(k, obj)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestGoals(t *testing.T) {
	running := with(phased(corev1.PodRunning), isReady)
	running.Status.ContainerStatuses[0].RestartCount = 3
	node := &corev1.Node{Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{
		{Type: corev1.NodeReady, Status: corev1.ConditionFalse, Reason: "KubeletNotReady", Message: "no network"}}}}
	noImage := podOf(always, waits("c", "ErrImagePull", ""))
	for name, tc := range map[string]struct {
		goal string
		kind *api.Kind
		obj  api.Object
		want Verdict
	}{
		"condition in any case":      {"condition=ready=TRUE", api.Pods, running, Verdict{Met, "Ready is True"}},
		"condition that is False":    {"condition=Ready=False", api.Pods, with(), Verdict{Met, "Ready is False"}},
		"False does not need images": {"condition=Ready=False", api.Pods, noImage, Verdict{Met, "Ready is False"}},
		"other condition":            {"condition=PodScheduled", api.Pods, with(), Verdict{Pending, "there is no condition PodScheduled"}},
		"containers need images":     {"condition=ContainersReady", api.Pods, noImage, Verdict{ImageError, "container c: ErrImagePull"}},
		"node":                       {"ready", api.Nodes, node, Verdict{Pending, "Ready is False: KubeletNotReady: no network"}},

		"phase":                        {"phase=Running", api.Pods, running, Verdict{Met, "it is Running"}},
		"phase that is passed":         {"phase=Running", api.Pods, with(phased(corev1.PodSucceeded)), Verdict{Completed, "it has succeeded"}},
		"the other end":                {"phase=Succeeded", api.Pods, with(phased(corev1.PodFailed)), Verdict{Failed, "it has failed"}},
		"phase that needs an image":    {"phase=Succeeded", api.Pods, noImage, Verdict{ImageError, "container c: ErrImagePull"}},
		"phase that does not":          {"phase=Failed", api.Pods, noImage, Verdict{Pending, "ErrImagePull"}},
		"phase of a namespace":         {"phase=Active", api.Namespaces, &corev1.Namespace{Status: corev1.NamespaceStatus{Phase: "Active"}}, Verdict{Met, "it is Active"}},
		"other phase of a namespace":   {"phase=Terminating", api.Namespaces, &corev1.Namespace{Status: corev1.NamespaceStatus{Phase: "Active"}}, Verdict{Pending, "it is Active"}},
		"value":                        {"jsonpath={.status.phase}=Running", api.Pods, running, Verdict{Outcome: Met}},
		"value without braces":         {"jsonpath=.status.phase=Running", api.Pods, running, Verdict{Outcome: Met}},
		"other value":                  {"jsonpath={.status.phase}=Failed", api.Pods, running, Verdict{Pending, `{.status.phase} is "Running"`}},
		"number":                       {"jsonpath={.status.containerStatuses[0].restartCount}=3", api.Pods, running, Verdict{Outcome: Met}},
		"filter":                       {`jsonpath={.status.conditions[?(@.type=="Ready")].status}=True`, api.Pods, running, Verdict{Outcome: Met}},
		"filter without braces":        {`jsonpath=status.conditions[?(@.type=="Ready")].status=True`, api.Pods, running, Verdict{Outcome: Met}},
		"any value":                    {"jsonpath={.status.phase}", api.Pods, running, Verdict{Outcome: Met}},
		"any value, but there is none": {"jsonpath={.status.podIP}", api.Pods, running, Verdict{Pending, "{.status.podIP} finds nothing"}},

		"create":            {"create", api.Pods, with(), Verdict{Outcome: Met}},
		"delete":            {"delete", api.Pods, with(), Verdict{Pending, "it is still there and not being deleted"}},
		"delete on its way": {"delete", api.Pods, with(isDeleted), Verdict{Pending, "it is being deleted"}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := verdict(t, tc.goal, tc.kind, tc.obj); got != tc.want {
				t.Errorf("%+v, want %+v", got, tc.want)
			}
		})
	}
}

func TestWhatCannotBeWaitedForIsRefused(t *testing.T) {
	for text, want := range map[string]string{
		"":                 "must be ready",
		"Ready":            "must be ready",
		"condition=":       "must be ready",
		"phase=":           "must be ready",
		"jsonpath=":        "no expression",
		"jsonpath={}":      "no expression",
		"jsonpath={.a}=":   "no value after the =",
		"jsonpath={.a}'b'": "is not =VALUE",
		"jsonpath={.a[}":   "jsonpath={.a[}",
	} {
		if _, err := Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want %q", text, err, want)
		}
	}
	for goal, tc := range map[string]struct {
		kind *api.Kind
		obj  api.Object
		want string
	}{
		"ready":                     {api.ConfigMaps, &corev1.ConfigMap{}, "configmaps have no conditions"},
		"phase=Active":              {api.Nodes, &corev1.Node{}, "nodes have no phase"},
		"phase=Runing":              {api.Pods, with(), "the phase is one of [Pending Running Succeeded Failed]"},
		"jsonpath={.status}=x":      {api.Pods, with(), "a list or an object"},
		"jsonpath={.status.*}=x":    {api.Pods, with(), "values, not one"},
		"jsonpath={.metadata[0]}=x": {api.Pods, with(), "is not array or slice"},
	} {
		g, err := Parse(goal)
		if err == nil {
			_, err = g.Check(tc.kind, tc.obj)
		}
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v; want %q", goal, err, tc.want)
		}
	}
}

func TestSeveralGoalsHoldTogether(t *testing.T) {
	var goals []Goal
	for _, text := range []string{"create", "phase=Running", "ready"} {
		g, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		goals = append(goals, g)
	}
	for name, tc := range map[string]struct {
		pod  *corev1.Pod
		want Outcome
	}{
		"none yet":         {with(), Pending},
		"one":              {with(phased(corev1.PodRunning)), Pending},
		"all":              {with(phased(corev1.PodRunning), isReady), Met},
		"one is ruled out": {with(phased(corev1.PodPending), isDeleted), Gone},
	} {
		if v, err := All(goals, api.Pods, tc.pod); err != nil || v.Outcome != tc.want {
			t.Errorf("%s: %+v, %v; want %v", name, v, err, tc.want)
		}
	}
}
