// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

// Of how nodes look after the health of containers.
var probeExamples = map[string]example{
	"probes-liveness-exec.yaml": {see: []step{
		isRestarted("liveness-exec", "app", "Killing: Container app failed liveness probe, will be restarted"),
	}},
	"probes-liveness-http.yaml": {see: []step{
		isRestarted("liveness-http", "web", "Unhealthy: Liveness probe failed: HTTP probe failed with statuscode: 404"),
	}},
	"probes-liveness-grpc.yaml": {see: []step{
		isRestarted("liveness-grpc", "server", `Unhealthy: Liveness probe failed: service unhealthy (responded with "NOT_SERVING")`),
	}},
	"probes-liveness-tcp.yaml": {see: []step{isRunning("liveness-tcp"), serves("liveness-tcp", "/", "hello")}},
	"probes-readiness.yaml": {see: []step{
		isRunning("readiness"), wasBefore("readiness", "not ready", func(s *corev1.ContainerStatus) bool { return !s.Ready }),
	}},
	"probes-startup.yaml": {see: []step{
		isRunning("startup"), wasBefore("startup", "starting", func(s *corev1.ContainerStatus) bool { return !ptr.Deref(s.Started, true) }),
	}},
}
