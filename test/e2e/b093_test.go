// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
	"google.golang.org/protobuf/proto"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/berth-run/berth/agent/cri/fault"
	"github.com/berth-run/berth/test/internal/harness"
)

// An agent that is killed at any call of a pod's start, or some time after it has
// asked for the sandbox, leaves a pod that comes to run with one sandbox and the
// address of that, as if nothing had happened.
func TestB093AKilledAgentLeavesNoPodWithoutItsAddress(t *testing.T) {
	w := own(t, 1)
	node, script := w.faultyNode()
	seen := w.record()
	for _, method := range []string{"RunPodSandbox", "PodSandboxStatus", "CreateContainer", "StartContainer", "ListContainers"} {
		name := "at-" + strings.ToLower(method)
		w.killedAt(node, script, seen, name, fault.Rule{Method: method, Hang: true}, 0)
		w.mustRunUnharmed(name, seen)
	}
	// In the middle of the start, which containerd breaks off with its client.
	for i := range rounds(4, 20) {
		name := fmt.Sprint("starting-", i)
		w.killedAt(node, script, seen, name, fault.Rule{Method: "StartContainer"}, time.Duration(5*i)*time.Millisecond)
		w.mustRunUnharmed(name, seen)
	}
	n := rounds(8, 50)
	for i := range n {
		name := fmt.Sprint("p", i)
		after := 10*time.Millisecond + 290*time.Millisecond*time.Duration(i)/time.Duration(n)
		w.killedAt(node, script, seen, name, fault.Rule{Method: "RunPodSandbox"}, after)
		w.mustRunUnharmed(name, seen)
	}
}

// killedAt creates a pod, kills the node's agent so long after the call of the rule
// has come that is made for the pod, and starts it again.
func (w *world) killedAt(node *harness.Node, script *fault.Script, seen *history, name string, rule fault.Rule, after time.Duration) {
	w.t.Helper()
	made, disarm := reached(script, rule, ofNewPod(seen))
	defer disarm()
	w.create(onNode(pod(name, app("c", "serve", "80")), node.Name))
	select {
	case <-made:
	case <-w.ctx().Done():
		w.t.Fatalf("no call of %s for pod %s", rule.Method, name)
	}
	settle(w.t, after)
	if err := node.Kill(); err != nil {
		w.t.Fatal(err)
	}
	disarm()
	if err := node.Start(); err != nil {
		w.t.Fatal(err)
	}
}

// ofNewPod tells whether a request is for a pod that is made from now on. Of those
// that are there already, and of all, only listings are asked for.
func ofNewPod(seen *history) func(proto.Message) bool {
	old := seen.uids()
	return func(request proto.Message) bool {
		r, ok := request.(*runtimeapi.ListContainersRequest)
		uid := r.GetFilter().GetLabelSelector()[uidLabel]
		return !ok || uid != "" && !old[types.UID(uid)]
	}
}

// mustRunUnharmed waits for the pod to be Ready, which it must be without a restart and
// with the address that its one sandbox has.
func (w *world) mustRunUnharmed(name string, seen *history) {
	w.t.Helper()
	p := w.ready(name)
	r := w.runtime(w.Nodes[0])
	address := r.onlyAddress(p.UID)
	if p.Status.PodIP != address {
		w.t.Errorf("%s has the address %s, its sandbox %s", name, p.Status.PodIP, address)
	}
	if shown := seen.addresses(name); slices.ContainsFunc(shown, func(ip string) bool { return ip != address }) {
		w.t.Errorf("%s was shown with the addresses %v, its sandbox has %s", name, shown, address)
	}
	if page := w.page(p, "/"); page != "hello from "+name+"\n" {
		w.t.Errorf("%s serves %q", name, page)
	}
	if s := container(p, "c"); s.RestartCount > 0 && !hadProcess(s.LastTerminationState) {
		w.t.Errorf("%s was restarted: %+v", name, s)
	}
	w.delete(name, 0)
	w.gone(name, testTimeout)
}

// hadProcess tells whether a container whose start was broken off may have come to run:
// the kill met the moment, some milliseconds long, between its process and the reply.
func hadProcess(before corev1.ContainerState) bool {
	end := before.Terminated
	return end != nil && strings.HasPrefix(end.Message, "failed to start containerd task")
}

// onlyAddress is that of the pod's sandbox, of which one is ready, in its network
// namespace.
func (r *runtime) onlyAddress(uid types.UID) string {
	r.t.Helper()
	sandbox := r.onlySandbox(uid)
	reply := r.verboseStatus(sandbox)
	found := namespaceAddresses(r.t, networkNamespace(r.t, reply))
	if ip := reply.GetStatus().GetNetwork().GetIp(); slices.Contains(found, ip) {
		return ip
	}
	r.t.Fatalf("sandbox %s has the address %s, its network namespace %v", sandbox, reply.GetStatus().GetNetwork().GetIp(), found)
	return ""
}

func (r *runtime) onlySandbox(uid types.UID) string {
	r.t.Helper()
	var ready []string
	for _, s := range r.sandboxes(uid) {
		if s.State == runtimeapi.PodSandboxState_SANDBOX_READY {
			ready = append(ready, s.Id)
		}
	}
	if len(ready) != 1 {
		r.t.Fatalf("ready sandboxes of pod %s: %v", uid, ready)
	}
	return ready[0]
}

func (r *runtime) verboseStatus(sandbox string) *runtimeapi.PodSandboxStatusResponse {
	r.t.Helper()
	reply, err := r.client.Runtime.PodSandboxStatus(context.Background(), &runtimeapi.PodSandboxStatusRequest{PodSandboxId: sandbox, Verbose: true})
	if err != nil {
		r.t.Fatal(err)
	}
	return reply
}

// A pod whose sandbox has lost its interface gets another, with an address that works.
func TestB093APodThatLostItsAddressGetsAnother(t *testing.T) {
	w := shared(t)
	seen := w.record()
	w.create(pod("p", app("c", "serve", "80")))
	before := w.ready("p")
	r := w.runtime(w.node(before))
	sandbox := r.onlySandbox(before.UID)
	removeInterface(t, networkNamespace(t, r.verboseStatus(sandbox)))
	after := w.waitFor(time.Minute, "p", "is Ready in another sandbox", func(p *corev1.Pod) bool {
		return isReady(p) && container(p, "c").ContainerID != container(before, "c").ContainerID
	})
	address := r.onlyAddress(after.UID)
	if r.onlySandbox(after.UID) == sandbox || after.Status.PodIP != address {
		t.Errorf("the pod has the address %s, its sandbox %s", after.Status.PodIP, address)
	}
	if page := w.page(after, "/"); page != "hello from p\n" {
		t.Errorf("it serves %q", page)
	}
	if shown := seen.addresses("p"); len(shown) > 2 || shown[0] != before.Status.PodIP || shown[len(shown)-1] != address {
		t.Errorf("it was shown with the addresses %v", shown)
	}
	w.noWarning("p", "BackOff")
}

// networkNamespace is the path of a sandbox's, as containerd tells it.
func networkNamespace(t *testing.T, reply *runtimeapi.PodSandboxStatusResponse) string {
	t.Helper()
	var info struct {
		RuntimeSpec struct {
			Linux struct {
				Namespaces []struct{ Type, Path string }
			}
		}
	}
	if err := json.Unmarshal([]byte(reply.GetInfo()["info"]), &info); err != nil {
		t.Fatal(err)
	}
	for _, n := range info.RuntimeSpec.Linux.Namespaces {
		if n.Type == "network" {
			return n.Path
		}
	}
	t.Fatalf("no network namespace in %v", reply.GetInfo())
	return ""
}

// inNamespace opens a network namespace until the test ends.
func inNamespace(t *testing.T, path string) *netlink.Handle {
	t.Helper()
	ns, err := netns.GetFromPath(path)
	if err != nil {
		t.Fatalf("network namespace %s: %v", path, err)
	}
	defer ns.Close()
	handle, err := netlink.NewHandleAt(ns)
	if err != nil {
		t.Fatalf("network namespace %s: %v", path, err)
	}
	t.Cleanup(handle.Close)
	return handle
}

func namespaceAddresses(t *testing.T, path string) []string {
	t.Helper()
	list, err := inNamespace(t, path).AddrList(nil, netlink.FAMILY_V4)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, a := range list {
		all = append(all, a.IP.String())
	}
	return all
}

func removeInterface(t *testing.T, path string) {
	t.Helper()
	handle := inNamespace(t, path)
	link, err := handle.LinkByName("eth0")
	if err == nil {
		err = handle.LinkDel(link)
	}
	if err != nil {
		t.Fatal(err)
	}
}
