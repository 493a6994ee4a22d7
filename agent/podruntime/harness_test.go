// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podruntime

import (
	"context"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-run/berth/agent/cri"
	"github.com/berth-run/berth/agent/cri/fake"
	"github.com/berth-run/berth/agent/podtypes"
)

const testImage = "busybox:1"

// harness is a Runtime over the fake.
type harness struct {
	*Runtime
	fake    *fake.Runtime
	events  *events
	objects objects
	volumes map[string]podtypes.Volume
	dir     string
}

func newHarness(t testing.TB) *harness {
	t.Helper()
	h := &harness{fake: fake.New(testImage), events: &events{}, objects: objects{}, dir: t.TempDir()}
	h.Runtime = newRuntime(t, h, h.fake.Client())
	return h
}

func newRuntime(t testing.TB, h *harness, client *cri.Client) *Runtime {
	t.Helper()
	r, err := New(Config{
		CRI: client, NodeName: "node-1", NodeID: "0badcafe", HostIPs: []string{"192.0.2.1"},
		LogDir:         filepath.Join(h.dir, "logs"),
		PodDir:         func(uid types.UID) string { return filepath.Join(h.dir, "pods", string(uid)) },
		CgroupParent:   func(pod *corev1.Pod) string { return "/berth-0badcafe/pod" + string(pod.UID) },
		Volumes:        func(types.UID) map[string]podtypes.Volume { return h.volumes },
		Objects:        h.objects,
		Handlers:       func() []corev1.NodeRuntimeHandler { return nil },
		Allocatable:    func() corev1.ResourceList { return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("4")} },
		ClusterDomain:  "cluster.local",
		SeccompDir:     "/seccomp",
		UserRange:      func(types.UID) (uint32, error) { return 131072, nil },
		MemoryCapacity: 8 << 30,
		Recorder:       h.events,
		Logger:         slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// sync reads the pod's status and syncs it once.
func (h *harness) sync(t *testing.T, pod *corev1.Pod) podtypes.SyncResult {
	t.Helper()
	return h.SyncPod(t.Context(), pod, h.status(t, pod), nil)
}

func (h *harness) status(t *testing.T, pod *corev1.Pod) *podtypes.PodStatus {
	t.Helper()
	status, err := h.PodStatus(context.WithoutCancel(t.Context()), pod.UID)
	if err != nil {
		t.Fatal(err)
	}
	return status
}

// mustSync is a sync that must not fail.
func (h *harness) mustSync(t *testing.T, pod *corev1.Pod) podtypes.SyncResult {
	t.Helper()
	r := h.sync(t, pod)
	if r.Err != nil {
		t.Fatalf("sync: %v", r.Err)
	}
	return r
}

// state returns the newest container's state; "" when there is none.
func (h *harness) state(t *testing.T, pod *corev1.Pod, container string) podtypes.ContainerState {
	t.Helper()
	c := h.status(t, pod).Latest(container)
	if c == nil {
		return ""
	}
	return c.State
}

func testPod(names ...string) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web", UID: "uid-1"},
		Spec:       corev1.PodSpec{RestartPolicy: corev1.RestartPolicyAlways},
	}
	for _, name := range names {
		pod.Spec.Containers = append(pod.Spec.Containers, testContainer(name))
	}
	return pod
}

func testContainer(name string) corev1.Container {
	return corev1.Container{Name: name, Image: testImage, ImagePullPolicy: corev1.PullIfNotPresent, TerminationMessagePath: "/dev/termination-log"}
}

// events records what users are told.
type events struct {
	mu  sync.Mutex
	all []string // reason, or reason fieldPath
	// messages of each reason, in their order.
	messages map[string][]string
}

func (e *events) Record(_ *corev1.Pod, fieldPath, _, reason, message string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.messages == nil {
		e.messages = map[string][]string{}
	}
	e.messages[reason] = append(e.messages[reason], message)
	if fieldPath != "" {
		reason += " " + fieldPath
	}
	e.all = append(e.all, reason)
}

func (e *events) has(event string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Contains(e.all, event)
}

// objects holds Secrets and ConfigMaps by name.
type objects map[string]any

func (o objects) Secret(_, name string) (*corev1.Secret, error) {
	if s, ok := o[name].(*corev1.Secret); ok {
		return s, nil
	}
	return nil, apierrors.NewNotFound(schema.GroupResource{Resource: "secrets"}, name)
}

func (o objects) RuntimeClass(name string) (*nodev1.RuntimeClass, error) {
	if c, ok := o[name].(*nodev1.RuntimeClass); ok {
		return c, nil
	}
	return nil, apierrors.NewNotFound(schema.GroupResource{Resource: "runtimeclasses"}, name)
}

func (o objects) ConfigMap(_, name string) (*corev1.ConfigMap, error) {
	if c, ok := o[name].(*corev1.ConfigMap); ok {
		return c, nil
	}
	return nil, apierrors.NewNotFound(schema.GroupResource{Resource: "configmaps"}, name)
}
