// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"context"
	"errors"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-run/berth/agent/admission"
	"github.com/berth-run/berth/agent/config"
	"github.com/berth-run/berth/agent/eviction"
	"github.com/berth-run/berth/agent/pleg"
	"github.com/berth-run/berth/agent/podsync"
	"github.com/berth-run/berth/agent/podtypes"
	"github.com/berth-run/berth/agent/podworkers"
	"github.com/berth-run/berth/agent/resize"
	"github.com/berth-run/berth/agent/session"
	"github.com/berth-run/berth/agent/status"
	"github.com/berth-run/berth/agent/syncloop"
	"github.com/berth-run/berth/agent/tunnel"
	"github.com/berth-run/berth/internal/version"
)

// buildPipeline builds what leads from what the sources say to what the runtime does.
func (p *assembly) buildPipeline(context.Context) error {
	p.pleg = pleg.New(p.runtime, pleg.Options{Logger: p.log, Metrics: p.metrics})
	resizes := &resize.Progress{}
	p.reporter = &status.Reporter{
		Manager: p.statuses, HostIPs: func() []string { return p.ips }, RuntimeName: p.about.Name,
		Probes: p.probes, Resizing: resizes.Of, Started: newPodStart(p.metrics),
	}
	syncer := podsync.New(podsync.Config{
		Status: p.reporter, Admission: verdicts{p}, Resizes: resizes, Network: p.node, Cgroups: p.cgroups, Dirs: p.dirs,
		Volumes: p.volumes, Secrets: p.objects, Probes: p.probes, Runtime: p.runtime, Readings: p.pleg,
		Wanted: p.wanted, Recorder: p.recorder, Logger: p.log,
	})
	p.workers = podworkers.New(podworkers.Config{
		Syncer: newTimedSyncer(syncer, p.metrics), Cache: p.pleg, Statuses: p.statuses, Recorder: p.recorder, Logger: p.log,
	})
	p.mux = config.New(p.recorder, p.log)
	p.loop = syncloop.New(syncloop.Config{
		Updates: p.mux.Updates(), Events: p.pleg.Events(), Probes: p.probes.Updates(), Sources: p.mux, Pods: p.pods, Workers: p.workers,
		Admitter: admitter{p}, Resizes: resizes, Runtime: p.pleg, RuntimeState: runtimeState{p},
		Statuses: p.reporter, Recorder: p.recorder, Containers: p.runtime, Logger: p.log, Cleaners: p.cleaners(),
	})
	p.evictions = eviction.New(eviction.Config{
		Pods: p.pods.Pods, Volumes: p.volumes.Volumes, ContainerStorage: p.runtime.ContainerStorage,
		Ending: p.workers.IsPodTerminationRequested, Evict: evict(p.workers), Recorder: p.recorder, Logger: p.log,
	})
	return nil
}

// buildConnections builds the two ways to the server.
func (p *assembly) buildConnections(context.Context) error {
	p.session = session.New(session.Config{
		Target: p.cfg.Server, DialOptions: serverDialOptions(), Node: p.node, NodeID: NodeID(p.cfg.StateDir),
		Pods: p.mux, Objects: p.objects, Statuses: p.statuses,
		Events: p.recorder.Events(), Updates: p.mux.Source(podtypes.ServerSource),
		OnWelcome: func(n *corev1.Node) { p.node.Assign(n); p.network.assign(n) },
		StoreFile: p.cfg.storeIDFile(), Version: version.String(), Logger: p.log,
	})
	p.tunnel = tunnel.New(tunnel.Config{
		Target: p.cfg.Server, DialOptions: serverDialOptions(), Node: p.cfg.Name, NodeID: NodeID(p.cfg.StateDir), Logger: p.log,
		Handler: tunnel.NewHandler(tunnel.NewLogs(p.cfg.logsDir(), p.pleg, p.log)),
	})
	showConnection(p.metrics, p.session.Connected, p.loop.LastLoop)
	return nil
}

// wanted tells whether a source names the pod.
func (p *assembly) wanted(uid types.UID) bool {
	_, ok := p.pods.PodByUID(uid)
	return ok
}

// verdicts reads the loop's verdicts.
type verdicts struct{ *assembly }

func (v verdicts) Verdict(pod *corev1.Pod) *podtypes.RejectError { return v.loop.Verdict(pod) }

// admitter decides against the node as it stands.
type admitter struct{ *assembly }

func (a admitter) Admit(pod *corev1.Pod, admitted []*corev1.Pod) *podtypes.RejectError {
	return admission.Admit(pod, admitted, a.node.Node(), a.machine)
}

func (a admitter) Resize(pod *corev1.Pod, admitted []*corev1.Pod) *podtypes.RejectError {
	return admission.Resize(pod, admitted, a.node.Node())
}

// runtimeState is fine when the runtime is ready and listed.
type runtimeState struct{ *assembly }

func (r runtimeState) Err() error { return errors.Join(r.node.RuntimeReady(), r.pleg.Healthy()) }
