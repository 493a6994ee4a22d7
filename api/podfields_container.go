// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package api

// containerFields are those of a container of any kind.
func containerFields() []fieldRule {
	return []fieldRule{
		{path: "name"},
		{path: "image"},
		{path: "imagePullPolicy"},
		{path: "command"},
		{path: "args"},
		{path: "workingDir"},
		{path: "ports"},
		{path: "env[].name"},
		{path: "env[].value"},
		{path: "env[].valueFrom.configMapKeyRef"},
		{path: "env[].valueFrom.secretKeyRef"},
		{path: "env[].valueFrom.fieldRef"},
		{path: "env[].valueFrom.resourceFieldRef"},
		{path: "env[].valueFrom.fileKeyRef"},
		{path: "envFrom"},
		{path: "resources.limits"},
		{path: "resources.requests"},
		{path: "restartPolicy"},
		{path: "restartPolicyRules"},
		{path: "lifecycle"},
		{path: "terminationMessagePath"},
		{path: "terminationMessagePolicy"},
		{path: "stdin"},
		{path: "stdinOnce"},
		{path: "tty"},
		{path: "livenessProbe"},
		{path: "readinessProbe"},
		{path: "startupProbe"},
		{path: "volumeMounts[].name"},
		{path: "volumeMounts[].mountPath"},
		{path: "volumeMounts[].readOnly"},
		{path: "volumeMounts[].subPath"},
		{path: "volumeMounts[].subPathExpr"},
		{path: "volumeMounts[].mountPropagation"},
		{path: "volumeMounts[].recursiveReadOnly"},

		{path: "resizePolicy"},
	}
}
