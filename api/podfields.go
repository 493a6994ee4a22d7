// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// podSpecFields is the one table of what berth makes of a PodSpec: a field that
// has no row, and a value that its row does not accept, is refused, never
// ignored.
//
// The values that rows list are those that Kubernetes sets itself, that clients
// always send, or that ask for nothing: with them a manifest means the same here
// and there.
func podSpecFields() []fieldRule {
	rows := slices.Concat(podFields(), podSecurityFields(), volumeFields())
	for _, list := range []string{"initContainers[].", "containers[].", "ephemeralContainers[]."} {
		for _, row := range slices.Concat(containerFields(), containerSecurityFields()) {
			row.path = list + row.path
			rows = append(rows, row)
		}
	}
	return rows
}

// podFields are those of the pod as a whole.
func podFields() []fieldRule {
	return []fieldRule{
		{path: "restartPolicy"},
		{path: "terminationGracePeriodSeconds"},
		{path: "activeDeadlineSeconds"},
		{path: "nodeName"},
		{path: "nodeSelector"},
		{path: "tolerations"},
		{path: "hostNetwork"},
		{path: "hostPID"},
		{path: "hostIPC"},
		{path: "hostUsers"},
		{path: "shareProcessNamespace"},
		{path: "hostname"},
		{path: "subdomain"},
		{path: "setHostnameAsFQDN"},
		{path: "hostnameOverride"},
		{path: "hostAliases"},
		{path: "dnsPolicy"},
		{path: "dnsConfig"},
		{path: "priorityClassName"},
		{path: "priority"},
		{path: "preemptionPolicy", moot: "no pod is ended for another yet"},
		{path: "runtimeClassName"},
		{path: "overhead"},
		{path: "imagePullSecrets"},
		{path: "schedulerName"},
		{path: "serviceAccountName"},
		{path: "serviceAccount"},
		{path: "readinessGates"},
		{path: "resources.limits"},
		{path: "resources.requests"},
		{path: "automountServiceAccountToken", moot: "no pod gets a token that its volumes do not ask for"},
		{path: "enableServiceLinks", moot: "there are no services"},

		{path: "affinity", values: []any{corev1.Affinity{}}},
		{path: "os.name", values: []any{corev1.Linux}, refuse: "berth runs Linux pods only"},
		{path: "ephemeralContainers[].targetContainerName"},
	}
}
