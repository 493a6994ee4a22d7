// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/berth-run/berth/agent/cri/fake"
	"github.com/berth-run/berth/agent/cri/fault"
	"github.com/berth-run/berth/agent/pleg"
	"github.com/berth-run/berth/agent/podmanager"
	"github.com/berth-run/berth/agent/podruntime"
	"github.com/berth-run/berth/agent/podsync"
	"github.com/berth-run/berth/agent/podtypes"
	"github.com/berth-run/berth/agent/podworkers"
	"github.com/berth-run/berth/agent/resize"
	"github.com/berth-run/berth/agent/status"
	"github.com/berth-run/berth/agent/syncloop"
	"github.com/berth-run/berth/internal/rungroup"
)

const image = "busybox:1"

// pipeline is the agent from the config updates to the runtime, a fake, and back to
// the statuses. What lies beside it, such as cgroups and volumes, is not there.
type pipeline struct {
	fake     *fake.Runtime
	updates  chan podtypes.PodUpdate
	statuses *status.Manager
}

// withPipeline runs f in a bubble beside a pipeline that has come to rest.
func withPipeline(t *testing.T, f func(t *testing.T, p *pipeline)) {
	synctest.Test(t, func(t *testing.T) {
		p := &pipeline{fake: fake.New(image), updates: make(chan podtypes.PodUpdate), statuses: status.NewManager(slog.New(slog.DiscardHandler))}
		p.fake.Faults.Add(fault.Rule{Delay: 10 * time.Millisecond})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		g := p.assemble(t)
		go func() { ended <- g.Run(ctx) }()
		time.Sleep(3 * time.Second) // until the runtime's events are relied on
		f(t, p)
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

func (p *pipeline) assemble(t *testing.T) *rungroup.Group {
	t.Helper()
	dir, logger := t.TempDir(), slog.New(slog.DiscardHandler)
	dirs := podsync.PodDirs(filepath.Join(dir, "pods"))
	runtime, err := podruntime.New(podruntime.Config{
		CRI: p.fake.Client(), NodeName: "node1", NodeID: "0badcafe", LogDir: filepath.Join(dir, "logs"), PodDir: dirs.Path,
		CgroupParent: func(*corev1.Pod) string { return "/berth-0badcafe" },
		Volumes:      func(types.UID) map[string]podtypes.Volume { return nil },
		Objects:      nothing{}, Handlers: func() []corev1.NodeRuntimeHandler { return nil }, Allocatable: func() corev1.ResourceList { return nil }, MemoryCapacity: 1 << 30, Recorder: nothing{}, Logger: logger,
	})
	if err != nil {
		t.Fatal(err)
	}
	generator := pleg.New(runtime, pleg.Options{Logger: logger})
	pods := podmanager.New()
	resizes := &resize.Progress{}
	reporter := &status.Reporter{Manager: p.statuses, HostIPs: func() []string { return nil }, RuntimeName: "fake"}
	syncer := podsync.New(podsync.Config{
		Status: reporter, Probes: nothing{},
		Admission: nothing{}, Resizes: resizes, Network: nothing{}, Cgroups: nothing{}, Dirs: dirs, Volumes: nothing{}, Secrets: nothing{}, Runtime: runtime, Readings: generator,
		Wanted: func(uid types.UID) bool { _, ok := pods.PodByUID(uid); return ok }, Recorder: nothing{}, Logger: logger,
	})
	workers := podworkers.New(podworkers.Config{Syncer: syncer, Cache: generator, Statuses: p.statuses, Recorder: nothing{}, Logger: logger})
	loop := syncloop.New(syncloop.Config{
		Updates: p.updates, Events: generator.Events(), Sources: nothing{}, Pods: pods, Workers: workers, Admitter: nothing{}, Resizes: resizes,
		Runtime: generator, RuntimeState: nothing{}, Statuses: reporter, Containers: runtime, Logger: logger,
	})
	var g rungroup.Group
	g.Add("pleg", generator.Run)
	g.Add("pod workers", workers.Run)
	g.Add("sync loop", loop.Run)
	return &g
}

// add has the pods run and returns when all are Ready and all is at rest again.
func (p *pipeline) add(t *testing.T, pods ...*corev1.Pod) {
	t.Helper()
	p.updates <- podtypes.PodUpdate{Op: podtypes.ADD, Source: podtypes.ServerSource, Pods: pods}
	time.Sleep(5 * time.Second)
	synctest.Wait()
	for _, pod := range pods {
		if s, _ := p.statuses.PodStatus(pod.UID); s.Phase != corev1.PodRunning {
			t.Fatalf("pod %s: %+v", pod.Name, s)
		}
	}
}

// calls counts the calls for single pods: listings of the whole node, which are
// made by time, are left out.
func (p *pipeline) calls() map[string]int {
	count := map[string]int{}
	for _, c := range p.fake.Calls() {
		switch r := c.Request.(type) {
		case *runtimeapi.ListPodSandboxRequest:
			if len(r.GetFilter().GetLabelSelector()) < 2 {
				continue
			}
		case *runtimeapi.ListContainersRequest:
			if len(r.GetFilter().GetLabelSelector()) < 2 {
				continue
			}
		}
		count[c.Method]++
	}
	p.fake.ForgetCalls()
	return count
}

func newPod(name string, containers ...string) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID(name)}}
	for _, c := range containers {
		pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{Name: c, Image: image, ImagePullPolicy: corev1.PullIfNotPresent})
	}
	return pod
}

// A pod costs the calls that start it and one reading, however many are started at
// once: events of what the agent did itself and the syncs that follow cost nothing.
func TestCallsToStartPods(t *testing.T) {
	withPipeline(t, func(t *testing.T, p *pipeline) {
		const n = 100
		var pods []*corev1.Pod
		for i := range n {
			pods = append(pods, newPod(fmt.Sprint("pod-", i), "web"))
		}
		p.calls()
		p.add(t, pods...)
		want := map[string]int{
			"RunPodSandbox": n, "ImageStatus": n, "CreateContainer": n, "StartContainer": n,
			"PodSandboxStatus": 2 * n, // for the address, and with the reading
			"ListPodSandbox":   n, "ListContainers": n, "ContainerStatus": n,
		}
		if diff := cmp.Diff(want, p.calls()); diff != "" {
			t.Errorf("calls: %s", diff)
		}
	})
}

// The death of a container costs one reading more than its restart.
func TestCallsToRestartAContainer(t *testing.T) {
	withPipeline(t, func(t *testing.T, p *pipeline) {
		p.add(t, newPod("pod", "web", "log"))
		p.calls()
		p.fake.Exit(p.fake.ContainerIDs("web")[0], fake.Exit{Code: 1})
		time.Sleep(time.Second)
		synctest.Wait()
		if ids := p.fake.ContainerIDs("web"); len(ids) != 2 {
			t.Fatalf("containers %v", ids)
		}
		want := map[string]int{
			"ImageStatus": 1, "CreateContainer": 1, "StartContainer": 1,
			"ListPodSandbox": 2, "ListContainers": 2, "PodSandboxStatus": 2, "ContainerStatus": 2 + 3,
		}
		if diff := cmp.Diff(want, p.calls()); diff != "" {
			t.Errorf("calls: %s", diff)
		}
	})
}

// Pods that run cost no calls of their own.
func TestCallsOfRunningPods(t *testing.T) {
	withPipeline(t, func(t *testing.T, p *pipeline) {
		p.add(t, newPod("pod-1", "web"), newPod("pod-2", "web"))
		p.calls()
		time.Sleep(10 * time.Minute)
		if got := slices.Sorted(maps.Keys(p.calls())); len(got) > 0 {
			t.Errorf("calls: %q", got)
		}
	})
}

// nothing stands for what the pipeline does without.
type nothing struct{}

func (nothing) Record(*corev1.Pod, string, string, string, string)      {}
func (nothing) Secret(string, string) (*corev1.Secret, error)           { return nil, podtypes.ErrNotFound }
func (nothing) RuntimeClass(string) (*nodev1.RuntimeClass, error)       { return nil, podtypes.ErrNotFound }
func (nothing) ConfigMap(string, string) (*corev1.ConfigMap, error)     { return nil, podtypes.ErrNotFound }
func (nothing) Verdict(*corev1.Pod) *podtypes.RejectError               { return nil }
func (nothing) Admit(*corev1.Pod, []*corev1.Pod) *podtypes.RejectError  { return nil }
func (nothing) Resize(*corev1.Pod, []*corev1.Pod) *podtypes.RejectError { return nil }
func (nothing) SyncPod(*corev1.Pod, *podtypes.PodStatus)                {}
func (nothing) StopLivenessAndStartup(types.UID)                        {}
func (nothing) RemovePod(types.UID)                                     {}
func (nothing) NetworkReady() error                                     { return nil }
func (nothing) EnsurePod(*corev1.Pod) error                             { return nil }
func (nothing) DestroyPod(context.Context, types.UID) error             { return nil }
func (nothing) Unmount(context.Context, types.UID) error                { return nil }
func (nothing) AllReady() bool                                          { return true }
func (nothing) Err() error                                              { return nil }
func (nothing) Mount(context.Context, *corev1.Pod) (map[string]podtypes.Volume, error) {
	return nil, nil
}
