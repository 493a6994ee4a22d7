// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import corev1 "k8s.io/api/core/v1"

// Of how containers start and end.
var lifeExamples = map[string]example{
	"nginx.json": {see: []step{isRunning("nginx"), serves("nginx", "/", "hello")}},
	"web.json":   {see: []step{isRunning("web"), serves("web", "/", "web"), serves("web", "/env?name=POD", "web")}},
	"init-containers.yaml": {see: []step{
		isRunning("init-containers"), logs("init-containers", "app", "UTC"),
		has("init-containers", "{.status.initContainerStatuses[*].state.terminated.reason}", "^Completed Completed$"),
	}},
	"sidecar.yaml": {see: []step{
		hasEnded("sidecar", corev1.PodSucceeded, "job", 0), hasEnded("sidecar", corev1.PodSucceeded, "proxy", 0),
		logs("sidecar", "job", "ok"),
	}},
	"lifecycle.yaml": {see: []step{
		isRunning("lifecycle"), logs("lifecycle", "web", "starts"), serves("lifecycle", "/", "hello"),
		does("delete", "pod", "lifecycle", "--wait=false"),
		prints("(?m)^ends$", "logs", "lifecycle"),
	}},
	"termination-message.yaml": {see: []step{
		hasEnded("termination-message", corev1.PodFailed, "file", 0),
		has("termination-message", "{.status.containerStatuses[*].state.terminated.message}",
			"(?s)^all is done\n cannot reach the database\n$"),
	}},
	"restart-rules.yaml": {see: []step{hasEnded("restart-rules", corev1.PodSucceeded, "job", 1)}},
	"debug.yaml": {
		before: []step{does("apply", "-f", "examples/web.json"), isRunning("web")},
		apply:  does("patch", "pod", "web", "--subresource=ephemeralcontainers", "--patch-file", "examples/debug.yaml"),
		see: []step{
			logs("web", "look", "serve 80", "Name:\tapp"),
			does("debug", "web", "--image=busybox:1.36", "--target=web", "--attach=false", "--container=too", "--", "ps"),
			logs("web", "too", "serve 80"),
			isRunning("web"),
		},
	},
	"share-process-namespace.yaml": {see: []step{
		isRunning("share-process-namespace"), logs("share-process-namespace", "observer", "sleep 3600"),
	}},
}
