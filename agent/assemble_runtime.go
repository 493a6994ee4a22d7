// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"cmp"
	"context"
	"errors"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-run/berth/agent/cgroup"
	"github.com/berth-run/berth/agent/node"
	"github.com/berth-run/berth/agent/objects"
	"github.com/berth-run/berth/agent/podruntime"
	"github.com/berth-run/berth/agent/podsync"
	"github.com/berth-run/berth/agent/prober"
	"github.com/berth-run/berth/agent/tokens"
	"github.com/berth-run/berth/agent/userns"
	"github.com/berth-run/berth/agent/volume"
	"github.com/berth-run/berth/internal/version"
	nodepb "github.com/berth-run/berth/proto/berth/node/v1"
)

// buildStorage builds what pods have on the node beside their containers.
func (p *assembly) buildStorage(context.Context) (err error) {
	p.dirs = podsync.PodDirs(p.cfg.podsDir())
	p.objects = objects.New(func(changed objects.Key) { resyncUsers(p.pods, p.workers, changed) })
	p.tokens = tokens.New(nodepb.NewNodeClient(p.server), p.cfg.Name, p.log)
	p.volumes = volume.New(volume.Config{
		PodsDir: p.cfg.podsDir(), Objects: p.objects, Tokens: p.tokens, Allocatable: p.allocatable,
		Detached: tellDetached(p.pods, p.recorder),
	})
	p.metrics.MustRegister(leftovers{p.volumes.Leftovers})
	p.cgroups, err = cgroup.New(cgroup.Config{Root: "/berth-" + NodeID(p.cfg.StateDir), Logger: p.log})
	return err
}

// buildRuntime builds what runs containers, and asks it whether it is there. Nothing
// is made on the machine for a runtime that is not.
func (p *assembly) buildRuntime(ctx context.Context) (err error) {
	p.probes = prober.New(prober.Config{Runtime: commands{p}, Recorder: p.recorder, HostIPs: p.ips})
	p.runtime, err = podruntime.New(podruntime.Config{
		CRI: p.client, NodeName: p.cfg.Name, NodeID: NodeID(p.cfg.StateDir), HostIPs: p.ips,
		ClusterDomain: cmp.Or(p.cfg.ClusterDomain, DefaultClusterDomain),
		LogDir:        p.cfg.logsDir(), PodDir: p.dirs.Path, SeccompDir: p.cfg.seccompDir(),
		CgroupParent: p.cgroups.PodPath, Processes: p.cgroups.ContainerProcesses,
		Volumes: p.volumes.Volumes, SubPath: p.volumes.SubPath, Objects: p.objects, UserRange: userns.New(p.cfg.podsDir()).Of,
		Handlers:    func() []corev1.NodeRuntimeHandler { return p.node.Node().Status.RuntimeHandlers },
		Allocatable: p.allocatable, MaxStarts: p.cfg.MaxStarts, OwnBridge: p.own != nil,
		Images: p.imagesConfig(p.client, p.statuses), Probes: p.probes, Recorder: p.recorder, Logger: p.log,
	})
	if err != nil {
		return err
	}
	if p.about, err = p.askRuntime(ctx); err != nil {
		return err
	}
	if err := p.runtime.PruneImages(ctx); err != nil {
		p.log.Warn("what is remembered of images may be out of date", "err", err)
	}
	return p.cgroups.Setup()
}

// askRuntime asks the runtime what it is, and refuses one whose cgroups the agent
// cannot share.
func (p *assembly) askRuntime(ctx context.Context) (podruntime.RuntimeVersion, error) {
	ctx, cancel := context.WithTimeout(ctx, runtimeTimeout)
	defer cancel()
	about, err := p.runtime.Version(ctx)
	if err != nil {
		return about, err
	}
	systemd, err := p.runtime.SystemdCgroups(ctx)
	if err == nil && systemd {
		err = errors.New("its cgroup driver is systemd; set SystemdCgroup = false in its configuration")
	}
	return about, err
}

// buildNode builds the node's network and its record.
func (p *assembly) buildNode(context.Context) (err error) {
	p.network = p.newNetwork(p.runtime.UpdatePodCIDR)
	p.node, err = node.New(node.Config{
		Name: p.cfg.Name, IPs: p.ips, Labels: p.cfg.Labels, MaxPods: p.cfg.MaxPods, Reserved: p.cfg.Reserved, StateDir: p.cfg.StateDir,
		RuntimeVersion: p.about.Name + "://" + p.about.Version, AgentVersion: version.String(), Runtime: watched{p.runtime, p.network},
		Events: p.recorder, Logger: p.log,
	})
	return err
}

// commands runs those of probes.
type commands struct{ *assembly }

func (c commands) RunInContainer(ctx context.Context, pod *corev1.Pod, container *corev1.Container, id string, command []string, timeout time.Duration) (string, error) {
	return c.runtime.RunInContainer(ctx, pod, container, id, command, timeout)
}

func (c commands) HasEnded(ctx context.Context, id string) bool { return c.runtime.HasEnded(ctx, id) }
