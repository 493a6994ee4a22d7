// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"cmp"
	"context"
	"errors"
	"time"

	"google.golang.org/grpc"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-run/berth/agent/admission"
	"github.com/berth-run/berth/agent/cgroup"
	"github.com/berth-run/berth/agent/config"
	"github.com/berth-run/berth/agent/cri"
	"github.com/berth-run/berth/agent/events"
	"github.com/berth-run/berth/agent/eviction"
	"github.com/berth-run/berth/agent/node"
	"github.com/berth-run/berth/agent/objects"
	"github.com/berth-run/berth/agent/pleg"
	"github.com/berth-run/berth/agent/podmanager"
	"github.com/berth-run/berth/agent/podruntime"
	"github.com/berth-run/berth/agent/podsync"
	"github.com/berth-run/berth/agent/podtypes"
	"github.com/berth-run/berth/agent/podworkers"
	"github.com/berth-run/berth/agent/prober"
	"github.com/berth-run/berth/agent/resize"
	"github.com/berth-run/berth/agent/session"
	"github.com/berth-run/berth/agent/status"
	"github.com/berth-run/berth/agent/syncloop"
	"github.com/berth-run/berth/agent/tokens"
	"github.com/berth-run/berth/agent/tunnel"
	"github.com/berth-run/berth/agent/userns"
	"github.com/berth-run/berth/agent/volume"
	"github.com/berth-run/berth/internal/rungroup"
	"github.com/berth-run/berth/internal/version"
	nodepb "github.com/berth-run/berth/proto/berth/node/v1"
)

// assemble builds the parts of the node over a runtime, from the bottom of the
// pipeline to its top, and returns them in the order in which they start.
func (a *Agent) assemble(ctx context.Context, client *cri.Client, server grpc.ClientConnInterface) (*rungroup.Group, error) {
	cfg := a.cfg
	ips := cfg.IPs
	if len(ips) == 0 {
		ips = []string{node.DetectIP()}
	}
	recorder := events.New(cfg.Name)
	pods := podmanager.New()
	statuses := status.NewManager(a.log)
	dirs := podsync.PodDirs(cfg.podsDir())

	var workers *podworkers.PodWorkers
	cache := objects.New(func(changed objects.Key) { resyncUsers(pods, workers, changed) })
	var self *node.Node
	allocatable := func() corev1.ResourceList { return self.Node().Status.Allocatable }
	podTokens := tokens.New(nodepb.NewNodeClient(server), cfg.Name, a.log)
	volumes := volume.New(volume.Config{
		PodsDir: cfg.podsDir(), Objects: cache, Tokens: podTokens, Allocatable: allocatable, Detached: tellDetached(pods, recorder),
	})

	machine, err := a.machine()
	if err != nil {
		return nil, err
	}
	cgroups, err := a.cgroups()
	if err != nil {
		return nil, err
	}
	var runtime *podruntime.Runtime
	probes := prober.New(prober.Config{Runtime: commands{&runtime}, Recorder: recorder, HostIPs: ips})
	runtime, err = podruntime.New(podruntime.Config{
		CRI: client, NodeName: cfg.Name, NodeID: NodeID(cfg.StateDir), HostIPs: ips,
		LogDir: cfg.logsDir(), PodDir: dirs.Path, CgroupParent: cgroups.PodPath,
		Volumes: volumes.Volumes, SubPath: volumes.SubPath, Objects: cache,
		Handlers: func() []corev1.NodeRuntimeHandler { return self.Node().Status.RuntimeHandlers }, Allocatable: allocatable, MaxStarts: cfg.MaxStarts, OwnBridge: a.own != nil,
		ClusterDomain: cmp.Or(cfg.ClusterDomain, DefaultClusterDomain), SeccompDir: cfg.seccompDir(), UserRange: userns.New(cfg.podsDir()).Of,
		Images: a.imagesConfig(client, statuses),
		Probes: probes, Processes: cgroups.ContainerProcesses, Recorder: recorder, Logger: a.log,
	})
	if err != nil {
		return nil, err
	}
	about, err := a.askRuntime(ctx, runtime)
	if err != nil {
		return nil, err
	}
	if err := runtime.PruneImages(ctx); err != nil {
		a.log.Warn("what is remembered of images may be out of date", "err", err)
	}
	// Nothing is made on the machine for a runtime that is not there.
	if err := cgroups.Setup(); err != nil {
		return nil, err
	}
	network := a.newNetwork(runtime.UpdatePodCIDR)
	self, err = node.New(node.Config{
		Name: cfg.Name, IPs: ips, Labels: cfg.Labels, MaxPods: cfg.MaxPods, Reserved: cfg.Reserved, StateDir: cfg.StateDir,
		RuntimeVersion: about.Name + "://" + about.Version, AgentVersion: version.String(), Runtime: watched{runtime, network},
		Events: recorder, Logger: a.log,
	})
	if err != nil {
		return nil, err
	}
	generator := pleg.New(runtime, pleg.Options{Logger: a.log, Metrics: a.metrics})

	var loop *syncloop.Loop
	resizes := &resize.Progress{}
	reporter := &status.Reporter{
		Manager: statuses, HostIPs: func() []string { return ips }, RuntimeName: about.Name, Probes: probes, Resizing: resizes.Of, Started: newPodStart(a.metrics),
	}
	syncer := podsync.New(podsync.Config{
		Status: reporter, Admission: verdicts{&loop}, Resizes: resizes, Network: self, Cgroups: cgroups, Dirs: dirs, Volumes: volumes, Secrets: cache,
		Probes: probes, Runtime: runtime, Readings: generator,
		Wanted: func(uid types.UID) bool { _, ok := pods.PodByUID(uid); return ok }, Recorder: recorder, Logger: a.log,
	})
	workers = podworkers.New(podworkers.Config{Syncer: newTimedSyncer(syncer, a.metrics), Cache: generator, Statuses: statuses, Recorder: recorder, Logger: a.log})
	mux := config.New(recorder, a.log)
	loop = syncloop.New(syncloop.Config{
		Updates: mux.Updates(), Events: generator.Events(), Probes: probes.Updates(), Sources: mux, Pods: pods, Workers: workers,
		Admitter: admitter{self, machine}, Resizes: resizes, Runtime: generator, RuntimeState: runtimeState{self, generator},
		Statuses: reporter, Recorder: recorder, Containers: runtime, Logger: a.log,
		Cleaners: cleaners(allocations{&loop}, statuses, probes, dirs, volumes, podTokens, runtime, cgroups),
	})

	evictions := eviction.New(eviction.Config{
		Pods: pods.Pods, Volumes: volumes.Volumes, ContainerStorage: runtime.ContainerStorage,
		Ending: workers.IsPodTerminationRequested, Evict: evict(workers), Recorder: recorder, Logger: a.log,
	})

	dial := serverDialOptions()
	toServer := session.New(session.Config{
		Target: cfg.Server, DialOptions: dial, Node: self, NodeID: NodeID(cfg.StateDir), Pods: mux, Objects: cache, Statuses: statuses,
		Events: recorder.Events(), Updates: mux.Source(podtypes.ServerSource),
		OnWelcome: func(n *corev1.Node) { self.Assign(n); network.assign(n) },
		StoreFile: cfg.storeIDFile(), Version: version.String(), Logger: a.log,
	})
	streams := tunnel.New(tunnel.Config{
		Target: cfg.Server, DialOptions: dial, Node: cfg.Name, NodeID: NodeID(cfg.StateDir), Logger: a.log,
		Handler: tunnel.NewHandler(tunnel.NewLogs(cfg.logsDir(), generator, a.log)),
	})

	showConnection(a.metrics, toServer.Connected, loop.LastLoop)
	a.metrics.MustRegister(leftovers{volumes.Leftovers})

	var g rungroup.Group
	g.Add("network", network.run)
	g.Add("node", self.Run)
	g.Add("pleg", generator.Run)
	g.Add("address check", func(ctx context.Context) error { return runtime.WatchAddresses(ctx, generator.Request) })
	g.Add("registry credentials", func(ctx context.Context) error { return runtime.WatchNodeCredentials(ctx, workers.Resync) })
	g.Add("probes", probes.Run)
	g.Add("pod workers", workers.Run)
	g.Add("sync loop", loop.Run)
	g.Add("eviction", evictions.Run)
	g.Add("config", mux.Run)
	g.Add("session", toServer.Run)
	g.Add("tunnel", streams.Run)
	a.health.up(a.checks(loop.Healthy, generator.Healthy)...)
	a.log.Info("the node is up", "id", NodeID(cfg.StateDir), "server", cfg.Server, "runtime", about.Name, "version", about.Version)
	return &g, nil
}

// checks are the given ones, and that of the node's own containerd.
func (a *Agent) checks(checks ...func() error) []func() error {
	if a.own != nil {
		checks = append(checks, a.own.Healthy)
	}
	return checks
}

func (a *Agent) cgroups() (*cgroup.Manager, error) {
	return cgroup.New(cgroup.Config{Root: "/berth-" + NodeID(a.cfg.StateDir), Logger: a.log})
}

// askRuntime asks the runtime what it is, and refuses one whose cgroups the agent
// cannot share.
func (a *Agent) askRuntime(ctx context.Context, r *podruntime.Runtime) (podruntime.RuntimeVersion, error) {
	ctx, cancel := context.WithTimeout(ctx, runtimeTimeout)
	defer cancel()
	about, err := r.Version(ctx)
	if err != nil {
		return about, err
	}
	systemd, err := r.SystemdCgroups(ctx)
	if err == nil && systemd {
		err = errors.New("its cgroup driver is systemd; set SystemdCgroup = false in its configuration")
	}
	return about, err
}

// verdicts reads the loop's verdicts; the loop is built after what asks for them.
type verdicts struct{ loop **syncloop.Loop }

func (v verdicts) Verdict(pod *corev1.Pod) *podtypes.RejectError { return (*v.loop).Verdict(pod) }

// commands runs those of probes; the runtime is built after what asks for it.
type commands struct{ runtime **podruntime.Runtime }

func (c commands) RunInContainer(ctx context.Context, pod *corev1.Pod, container *corev1.Container, id string, command []string, timeout time.Duration) (string, error) {
	return (*c.runtime).RunInContainer(ctx, pod, container, id, command, timeout)
}

// allocations reads what the loop has allocated to pods; the loop is built after what
// asks for them.
type allocations struct{ loop **syncloop.Loop }

func (a allocations) pods() []*corev1.Pod { return (*a.loop).Allocated() }

// admitter decides against the node as it stands.
type admitter struct {
	node    *node.Node
	machine admission.Machine
}

func (a admitter) Admit(pod *corev1.Pod, admitted []*corev1.Pod) *podtypes.RejectError {
	return admission.Admit(pod, admitted, a.node.Node(), a.machine)
}

func (a admitter) Resize(pod *corev1.Pod, admitted []*corev1.Pod) *podtypes.RejectError {
	return admission.Resize(pod, admitted, a.node.Node())
}

// runtimeState is fine when the runtime is ready and listed.
type runtimeState struct {
	node *node.Node
	pleg *pleg.PLEG
}

func (r runtimeState) Err() error { return errors.Join(r.node.RuntimeReady(), r.pleg.Healthy()) }
