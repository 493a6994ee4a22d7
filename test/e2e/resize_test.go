// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-run/berth/test/internal/harness"
)

// resize asks for other resources of container c.
func (w *world) resize(name, resources string) *corev1.Pod {
	w.t.Helper()
	return w.patchPod(name, "resize", fmt.Sprintf(`{"spec":{"containers":[{"name":"c","resources":%s}]}}`, resources))
}

// patchPod patches a part of a pod, as kubectl does.
func (w *world) patchPod(name, subresource, patch string) *corev1.Pod {
	w.t.Helper()
	request, err := http.NewRequestWithContext(w.ctx(), http.MethodPatch, w.URL()+harness.PodPath(w.ns, name)+"/"+subresource, strings.NewReader(patch))
	if err != nil {
		w.t.Fatal(err)
	}
	request.Header.Set("Content-Type", string(types.StrategicMergePatchType))
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		w.t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		w.t.Fatalf("patch the %s of pod %s: %s: %s", subresource, name, response.Status, body)
	}
	pod := &corev1.Pod{}
	if err := json.Unmarshal(body, pod); err != nil {
		w.t.Fatal(err)
	}
	return pod
}

// resized tells whether the node has made true what the pod asks for.
func resized(p *corev1.Pod) bool {
	if p.Status.ObservedGeneration != p.Generation || conditionOf(p, corev1.PodResizePending).Type != "" || conditionOf(p, corev1.PodResizeInProgress).Type != "" {
		return false
	}
	for _, c := range p.Spec.Containers {
		s := container(p, c.Name)
		if s.Resources == nil || !sameList(s.AllocatedResources, c.Resources.Requests) ||
			!sameList(s.Resources.Requests, c.Resources.Requests) || !sameList(s.Resources.Limits, c.Resources.Limits) {
			return false
		}
	}
	return true
}

func sameList(a, b corev1.ResourceList) bool {
	if len(a) != len(b) {
		return false
	}
	for name, q := range a {
		if other, ok := b[name]; !ok || other.Cmp(q) != 0 {
			return false
		}
	}
	return true
}

// The task "Resize CPU and Memory Resources assigned to Containers": cpu without, and
// memory with a restart.
func TestResizeOfARunningPod(t *testing.T) {
	w := shared(t)
	c := w.withResources("c", `{requests: {cpu: 200m, memory: 64Mi}, limits: {cpu: 300m, memory: 64Mi}}`)
	c.ResizePolicy = []corev1.ContainerResizePolicy{
		{ResourceName: corev1.ResourceCPU, RestartPolicy: corev1.NotRequired},
		{ResourceName: corev1.ResourceMemory, RestartPolicy: corev1.RestartContainer},
	}
	w.create(pod("p", c))
	before := w.ready("p")
	limits{204, 300, 64 * mebibyte}.want(t, w.podCgroup(before))

	asked := w.resize("p", `{"requests":{"cpu":"400m"},"limits":{"cpu":"800m"}}`)
	if asked.Generation != before.Generation+1 {
		t.Errorf("generation %d after %d", asked.Generation, before.Generation)
	}
	p := w.wait("p", "is resized", resized)
	limits{409, 800, 64 * mebibyte}.want(t, w.podCgroup(p))
	limits{409, 800, 64 * mebibyte}.want(t, w.containerCgroup(p, "c"))
	if got := container(p, "c"); got.RestartCount != 0 || got.ContainerID != container(before, "c").ContainerID {
		t.Errorf("a resize of cpu restarts the container: %+v", got)
	}

	w.resize("p", `{"requests":{"cpu":"100m"},"limits":{"cpu":"150m"}}`)
	p = w.wait("p", "is resized", resized)
	limits{102, 150, 64 * mebibyte}.want(t, w.podCgroup(p))
	limits{102, 150, 64 * mebibyte}.want(t, w.containerCgroup(p, "c"))

	w.resize("p", `{"requests":{"memory":"128Mi"},"limits":{"memory":"128Mi"}}`)
	p = w.wait("p", "is restarted", func(p *corev1.Pod) bool { return container(p, "c").RestartCount == 1 && isReady(p) && resized(p) })
	limits{102, 150, 128 * mebibyte}.want(t, w.podCgroup(p))
	limits{102, 150, 128 * mebibyte}.want(t, w.containerCgroup(p, "c"))
	w.waitEvent("p", "ResizeStarted: Pod resize started: {")
	w.waitEvent("p", "ResizeCompleted: Pod resize completed: {")
}

// Memory grows and shrinks in place, but not below what is in use.
func TestResizeOfMemoryInPlace(t *testing.T) {
	w := shared(t)
	c := shell("c", `dd if=/dev/zero of=/dev/shm/a bs=1M count=24; trap exit TERM; while :; do sleep 1; done`)
	c.Resources = resources(t, `{limits: {memory: 64Mi}}`)
	w.create(pod("p", c))
	before := w.ready("p")
	w.resize("p", `{"requests":{"memory":"96Mi"},"limits":{"memory":"96Mi"}}`)
	p := w.wait("p", "is resized", resized)
	limits{2, 0, 96 * mebibyte}.want(t, w.podCgroup(p))
	limits{2, 0, 96 * mebibyte}.want(t, w.containerCgroup(p, "c"))

	w.resize("p", `{"requests":{"memory":"8Mi"},"limits":{"memory":"8Mi"}}`)
	p = w.wait("p", "says that it cannot", func(p *corev1.Pod) bool {
		c := conditionOf(p, corev1.PodResizeInProgress)
		return c.Reason == corev1.PodReasonError && strings.Contains(c.Message, "below current usage")
	})
	limits{2, 0, 96 * mebibyte}.want(t, w.containerCgroup(p, "c"))
	w.waitEvent("p", "below current usage")

	w.resize("p", `{"requests":{"memory":"48Mi"},"limits":{"memory":"48Mi"}}`)
	p = w.wait("p", "is resized", resized)
	limits{2, 0, 48 * mebibyte}.want(t, w.podCgroup(p))
	limits{2, 0, 48 * mebibyte}.want(t, w.containerCgroup(p, "c"))
	if got := container(p, "c"); got.RestartCount != 0 || got.ContainerID != container(before, "c").ContainerID {
		t.Errorf("restarted: %+v", got)
	}
}

// A resize waits for room, across a restart of the agent, and is refused if the node
// can never have it.
func TestResizeWaitsForRoom(t *testing.T) {
	w := own(t, 1)
	node := w.Nodes[0]
	milli := w.cpuOf(node.Name)
	request := func(tenths int64) string {
		return fmt.Sprintf(`{"requests":{"cpu":"%dm"}}`, milli*tenths/10)
	}
	w.create(pod("p", w.withResources("c", request(3))))
	w.create(pod("beside", w.withResources("c", request(4))))
	before := w.ready("p")
	w.ready("beside")

	w.resize("p", request(11))
	w.wait("p", "cannot be resized", func(p *corev1.Pod) bool {
		c := conditionOf(p, corev1.PodResizePending)
		return c.Reason == corev1.PodReasonInfeasible && c.ObservedGeneration == p.Generation && strings.Contains(c.Message, "capacity")
	})
	w.waitEvent("p", "ResizeInfeasible: Pod resize infeasible: {")

	w.resize("p", request(8))
	deferred := func(p *corev1.Pod) bool {
		return conditionOf(p, corev1.PodResizePending).Reason == corev1.PodReasonDeferred
	}
	p := w.wait("p", "waits", deferred)
	allocated := container(p, "c").AllocatedResources
	if got := allocated.Cpu().MilliValue(); got != milli*3/10 {
		t.Errorf("%dm are allocated", got)
	}
	shares := limits{shares: uint64(milli * 3 / 10 * 1024 / 1000)}
	shares.want(t, w.containerCgroup(p, "c"))

	if err := errors.Join(node.Kill(), node.Start(), node.WaitHealthy(w.ctx())); err != nil {
		t.Fatal(err)
	}
	w.wait("p", "waits", deferred)
	shares.want(t, w.containerCgroup(p, "c"))

	w.delete("beside", 0)
	p = w.wait("p", "is resized", resized)
	limits{shares: uint64(milli * 8 / 10 * 1024 / 1000)}.want(t, w.containerCgroup(p, "c"))
	if container(p, "c").ContainerID != container(before, "c").ContainerID {
		t.Error("the container was restarted")
	}
}
