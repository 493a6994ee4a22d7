// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/berth-run/berth/agent/cri"
	"github.com/berth-run/berth/test/internal/harness"
)

// uidLabel is the label by which all tools know whose a container is.
const uidLabel = "io.kubernetes.pod.uid"

// node returns the node that the pod is on.
func (w *world) node(p *corev1.Pod) *harness.Node {
	w.t.Helper()
	for _, n := range w.Nodes {
		if n.Name == p.Spec.NodeName {
			return n
		}
	}
	w.t.Fatalf("pod %s is on node %q", p.Name, p.Spec.NodeName)
	return nil
}

// runtime is a node's runtime, as crictl would see it.
type runtime struct {
	t      *testing.T
	node   *harness.Node
	client *cri.Client
}

func (w *world) runtime(n *harness.Node) *runtime {
	w.t.Helper()
	client, err := n.CRI()
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { client.Close() })
	return &runtime{w.t, n, client}
}

func (r *runtime) containers(uid types.UID) []*runtimeapi.Container {
	r.t.Helper()
	reply, err := r.client.Runtime.ListContainers(context.Background(), &runtimeapi.ListContainersRequest{
		Filter: &runtimeapi.ContainerFilter{LabelSelector: map[string]string{uidLabel: string(uid)}}})
	if err != nil {
		r.t.Fatal(err)
	}
	return reply.Containers
}

func (r *runtime) sandboxes(uid types.UID) []*runtimeapi.PodSandbox {
	r.t.Helper()
	reply, err := r.client.Runtime.ListPodSandbox(context.Background(), &runtimeapi.ListPodSandboxRequest{
		Filter: &runtimeapi.PodSandboxFilter{LabelSelector: map[string]string{uidLabel: string(uid)}}})
	if err != nil {
		r.t.Fatal(err)
	}
	return reply.Items
}

// clean waits until nothing of the pod is on its node: neither sandbox nor
// directory nor cgroup.
func (r *runtime) clean(uid types.UID) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), testTimeout)
	defer cancel()
	var left []string
	err := harness.Poll(ctx, "nothing of the pod is on its node", func() (bool, error) {
		left = nil
		for _, s := range r.sandboxes(uid) {
			left = append(left, "sandbox "+s.Id)
		}
		if _, err := os.Stat(r.node.PodDir(string(uid))); err == nil {
			left = append(left, r.node.PodDir(string(uid)))
		}
		cgroups, _ := filepath.Glob("/sys/fs/cgroup/*/berth-" + r.node.ID + "/*/*" + string(uid) + "*")
		left = append(left, cgroups...)
		return len(left) == 0, nil
	})
	if err != nil {
		r.t.Errorf("%v; left are %s", err, strings.Join(left, ", "))
	}
}
