// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package prober

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-run/berth/agent/podtypes"
	"github.com/berth-run/berth/agent/prober/probe"
)

// ask asks the container by the handler that the probe has.
func (w *worker) ask(ctx context.Context) probe.Outcome {
	m, timeout := w.manager, w.timeout()
	switch h := w.probe.ProbeHandler; {
	case h.Exec != nil:
		return probe.OfExec(m.cfg.Runtime.RunInContainer(ctx, w.pod, w.container, w.instance.id, h.Exec.Command, timeout))
	case h.HTTPGet != nil:
		return m.http.Probe(ctx, h.HTTPGet, w.container, w.podIP, timeout)
	case h.TCPSocket != nil:
		return probe.TCP(ctx, h.TCPSocket, w.container, w.podIP, timeout)
	case h.GRPC != nil:
		return probe.GRPC(ctx, h.GRPC, w.podIP, timeout)
	}
	return probe.Outcome{Output: "the probe has no handler"}
}

func (w *worker) timeout() time.Duration { return max(seconds(w.probe.TimeoutSeconds), time.Second) }

// tell tells users of an outcome unless all is well.
func (w *worker) tell(o probe.Outcome) {
	if reason, message := tale(w.kind, o); reason != "" && !w.isMoot(o) {
		w.manager.cfg.Recorder.Record(w.pod, w.fieldPath(), corev1.EventTypeWarning, reason, message)
	}
}

// isMoot: a container of a pod that is ending may be gone between two tries, or during
// one, and that it cannot be asked any more says no more than that.
func (w *worker) isMoot(o probe.Outcome) bool {
	w.manager.mu.Lock()
	defer w.manager.mu.Unlock()
	return w.instance.ending && o.Result == podtypes.ProbeUnknown
}

// tale is the event of an outcome, in the kubelet's words; without a reason there is
// nothing to tell.
func tale(kind podtypes.ProbeKind, o probe.Outcome) (reason, message string) {
	switch {
	case o.Warning:
		return "ProbeWarning", fmt.Sprintf("%s probe warning: %s", kind, o.Output)
	case o.Result == podtypes.ProbeFailure:
		return "Unhealthy", fmt.Sprintf("%s probe failed: %s", kind, o.Output)
	case o.Result == podtypes.ProbeUnknown:
		return "Unhealthy", fmt.Sprintf("%s probe errored and resulted in unknown state: %s", kind, o.Output)
	}
	return "", ""
}

func (w *worker) fieldPath() string {
	if isInit(w.pod, w.container.Name) {
		return fmt.Sprintf("spec.initContainers{%s}", w.container.Name)
	}
	return fmt.Sprintf("spec.containers{%s}", w.container.Name)
}
