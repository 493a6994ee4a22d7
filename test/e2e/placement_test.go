// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-run/berth/test/internal/harness"
)

// A pod goes to the node that its labels name, and only there; one of another
// scheduler waits for that one's binding.
func TestPlacement(t *testing.T) {
	w := shared(t)
	selects := pod("selects", app("c"))
	selects.Spec.NodeSelector = map[string]string{corev1.LabelHostname: "node2"}
	w.create(selects)
	if p := w.ready("selects"); p.Spec.NodeName != "node2" {
		t.Errorf("it runs on %s", p.Spec.NodeName)
	}
	other := pod("other", app("c"))
	other.Spec.SchedulerName = "mine"
	w.create(other)
	w.create(pod("after", app("c")))
	w.ready("after")
	if p := w.get("other"); p.Spec.NodeName != "" {
		t.Errorf("a pod of another scheduler was bound to %s", p.Spec.NodeName)
	}
	w.post(harness.PodPath(w.ns, "other")+"/binding", &corev1.Binding{
		ObjectMeta: metav1.ObjectMeta{Name: "other"}, Target: corev1.ObjectReference{Kind: "Node", Name: "node1"},
	}, nil)
	w.ready("other")
}

func TestATaintedNodeTakesWhatToleratesIt(t *testing.T) {
	w := own(t, 1)
	taint := map[string]any{"spec": map[string]any{"taints": []corev1.Taint{{Key: "for", Value: "few", Effect: corev1.TaintEffectNoSchedule}}}}
	if _, err := w.Do(w.ctx(), http.MethodPatch, "/api/v1/nodes/node1", taint, nil); err != nil {
		t.Fatal(err)
	}
	w.create(pod("kept-off", app("c")))
	tolerant := pod("tolerant", app("c"))
	tolerant.Spec.Tolerations = []corev1.Toleration{{Key: "for", Operator: corev1.TolerationOpExists}}
	w.create(tolerant)
	w.ready("tolerant")
	w.waitEvent("kept-off", "had untolerated taint")
}

// A host port leads to its pod, and no second pod of the node gets it; the same
// number of another protocol is another port.
func TestHostPorts(t *testing.T) {
	w := shared(t)
	const port = 28080
	with := func(name string, protocol corev1.Protocol) *corev1.Pod {
		c := app("c", "serve", "80")
		c.Ports = []corev1.ContainerPort{{ContainerPort: 80, HostPort: port, Protocol: protocol}}
		return onNode(pod(name, c), "node1")
	}
	w.create(with("first", corev1.ProtocolTCP))
	first := w.ready("first")
	w.create(with("udp", corev1.ProtocolUDP))
	w.ready("udp")
	w.create(with("second", corev1.ProtocolTCP))
	if p := w.wait("second", "fails", inPhase(corev1.PodFailed)); p.Status.Reason != "NodePorts" {
		t.Errorf("reason %q: %s", p.Status.Reason, p.Status.Message)
	}
	response, err := http.Get("http://" + net.JoinHostPort(first.Status.HostIP, fmt.Sprint(port)) + "/")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if body, err := io.ReadAll(response.Body); err != nil || string(body) != "hello from first\n" {
		t.Errorf("the port serves %q, %v", body, err)
	}
}
