// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/berth-run/berth/test/internal/harness"
)

// recovery is how soon the status has to be right after a start: 5 s, and as much
// again for a machine that other tests keep busy.
const recovery = 10 * time.Second

// Whatever of berth is killed, the containers run on, and the status is right soon
// after: also that of the container that died meanwhile.
func TestKilledBerthFindsItsPodsAgain(t *testing.T) {
	w := own(t, 2)
	for _, node := range []string{"node1", "node2"} {
		w.create(onNode(pod("on-"+node, app("kept"), app("dies")), node))
		w.ready("on-" + node)
	}
	agents := []*harness.Process{w.Nodes[0].Process, w.Nodes[1].Process}
	for _, c := range []struct {
		name    string
		victims []*harness.Process
	}{
		{"agents", agents},
		{"server", []*harness.Process{w.Server}},
		{"server and agents", append([]*harness.Process{w.Server}, agents...)},
	} {
		before := map[string]*corev1.Pod{}
		for _, name := range []string{"on-node1", "on-node2"} {
			before[name] = w.ready(name)
		}
		for _, v := range c.victims {
			if err := v.Kill(); err != nil {
				t.Fatal(err)
			}
		}
		w.killContainer(w.Nodes[0], before["on-node1"], "dies")
		for _, v := range c.victims {
			if err := v.Start(); err != nil {
				t.Fatal(err)
			}
		}
		died := w.waitFor(recovery, "on-node1", "has the dead container restarted", func(p *corev1.Pod) bool {
			return isReady(p) && container(p, "dies").RestartCount == container(before["on-node1"], "dies").RestartCount+1
		})
		if was, is := container(before["on-node1"], "kept"), container(died, "kept"); was.ContainerID != is.ContainerID || was.RestartCount != is.RestartCount {
			t.Errorf("%s killed: the container went from %+v to %+v", c.name, was, is)
		}
		other := w.get("on-node2")
		for _, name := range []string{"kept", "dies"} {
			was, is := container(before["on-node2"], name), container(other, name)
			if was.ContainerID != is.ContainerID || was.RestartCount != is.RestartCount || !isReady(other) {
				t.Errorf("%s killed: container %s went from %+v to %+v", c.name, name, was, is)
			}
		}
		// The crash back-off is not what this is about.
		w.delete("on-node1", 1)
		w.gone("on-node1", testTimeout)
		w.create(onNode(pod("on-node1", app("kept"), app("dies")), "node1"))
	}
}

// killContainer kills a container's process, as the kernel might.
func (w *world) killContainer(n *harness.Node, p *corev1.Pod, name string) {
	w.t.Helper()
	r := w.runtime(n)
	for _, c := range r.containers(p.UID) {
		if c.Metadata.Name != name || c.State != runtimeapi.ContainerState_CONTAINER_RUNNING {
			continue
		}
		pid, err := n.ContainerPID(c.Id)
		if err == nil {
			err = syscall.Kill(pid, syscall.SIGKILL)
		}
		if err != nil {
			w.t.Fatal(err)
		}
		return
	}
	w.t.Fatalf("container %s of pod %s does not run", name, p.Name)
}
