// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

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
		has("readiness", "{.status.phase} {.status.containerStatuses[0].ready}", "^Running false$"), isRunning("readiness"),
	}},
	"probes-startup.yaml": {see: []step{
		has("startup", "{.status.phase} {.status.containerStatuses[0].started}", "^Running false$"), isRunning("startup"),
	}},
}
