// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// notHonoured is the reason for every field that the table below does not name.
const notHonoured = "not honoured by this version of berth"

// fieldRule is one row of the table of PodSpec fields.
type fieldRule struct {
	// path is that of a manifest, below spec; [] stands for every element of a
	// list. A row speaks for the field and all that lies below it.
	path string
	// values that are accepted; nil accepts every value.
	values []any
	// refuse says why no value is accepted.
	refuse string
}

// podSpecFields is the one table of what berth makes of a PodSpec: a field that
// has no row, and a value that its row does not accept, is refused, never
// ignored.
//
// The values that rows list are those that Kubernetes sets itself, that clients
// always send, or that ask for nothing: with them a manifest means the same here
// and there.
func podSpecFields() []fieldRule {
	rows := []fieldRule{
		{path: "restartPolicy"},
		{path: "terminationGracePeriodSeconds"},
		{path: "activeDeadlineSeconds"},
		{path: "nodeName"},
		{path: "nodeSelector"},
		{path: "tolerations"},
		{path: "hostNetwork"},
		{path: "imagePullSecrets"},
		{path: "schedulerName"},
		// There are no tokens and no services to leave out or to put in.
		{path: "automountServiceAccountToken"},
		{path: "enableServiceLinks"},

		{path: "dnsPolicy", values: []any{corev1.DNSClusterFirst, corev1.DNSDefault}},
		{path: "serviceAccountName", values: []any{"default"}},
		{path: "serviceAccount", values: []any{"default"}},
		{path: "preemptionPolicy", values: []any{corev1.PreemptLowerPriority, corev1.PreemptNever}},
		{path: "priority", values: []any{int32(0)}},
		{path: "securityContext", values: []any{corev1.PodSecurityContext{}}},
		{path: "affinity", values: []any{corev1.Affinity{}}},
		{path: "shareProcessNamespace", values: []any{false}},
		{path: "setHostnameAsFQDN", values: []any{false}},
		{path: "hostUsers", values: []any{true}},
		{path: "os", values: []any{corev1.PodOS{Name: corev1.Linux}}},

		{path: "ephemeralContainers", refuse: "ephemeral containers cannot be part of a pod's manifest"},

		{path: "volumes[].name"},
		{path: "volumes[].emptyDir.medium"},
		{path: "volumes[].emptyDir.sizeLimit"},
		{path: "volumes[].hostPath.path"},
		{path: "volumes[].hostPath.type"},
		{path: "volumes[].configMap.name"},
		{path: "volumes[].configMap.items"},
		{path: "volumes[].configMap.defaultMode"},
		{path: "volumes[].configMap.optional"},
		{path: "volumes[].secret.secretName"},
		{path: "volumes[].secret.items"},
		{path: "volumes[].secret.defaultMode"},
		{path: "volumes[].secret.optional"},
	}
	for _, list := range []string{"initContainers[].", "containers[]."} {
		for _, row := range containerFields() {
			row.path = list + row.path
			rows = append(rows, row)
		}
	}
	return rows
}

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
		{path: "resources.limits"},
		{path: "resources.requests"},
		{path: "volumeMounts[].name"},
		{path: "volumeMounts[].mountPath"},
		{path: "volumeMounts[].readOnly"},

		{path: "volumeMounts[].mountPropagation", values: []any{corev1.MountPropagationNone}},
		{path: "volumeMounts[].recursiveReadOnly", values: []any{corev1.RecursiveReadOnlyDisabled}},
		{path: "resizePolicy[].resourceName", values: []any{corev1.ResourceCPU, corev1.ResourceMemory}},
		{path: "resizePolicy[].restartPolicy", values: []any{corev1.NotRequired}},
		{path: "terminationMessagePath", values: []any{corev1.TerminationMessagePathDefault}},
		{path: "terminationMessagePolicy", values: []any{corev1.TerminationMessageReadFile}},
		{path: "securityContext", values: []any{corev1.SecurityContext{}}},
	}
}

// fieldTree is the table by path element: a node with a rule decides, one
// without leads on.
type fieldTree struct {
	rule     *fieldRule
	children map[string]*fieldTree
}

func newFieldTree(rows []fieldRule) *fieldTree {
	root := &fieldTree{}
	for i := range rows {
		node := root
		for _, element := range strings.Split(strings.ReplaceAll(rows[i].path, "[]", ".[]"), ".") {
			node = node.addChild(element)
		}
		node.rule = &rows[i]
	}
	return root
}

func (t *fieldTree) addChild(element string) *fieldTree {
	if t.children == nil {
		t.children = map[string]*fieldTree{}
	}
	if t.children[element] == nil {
		t.children[element] = &fieldTree{}
	}
	return t.children[element]
}

// child is nil for an element that no row leads to. It may be called on nil.
func (t *fieldTree) child(element string) *fieldTree {
	if t == nil {
		return nil
	}
	return t.children[element]
}

// refusal says why a value that is set may not be; empty if it may.
func (r *fieldRule) refusal(v reflect.Value) string {
	switch {
	case r.refuse != "":
		return r.refuse
	case r.values == nil:
		return ""
	}
	accepted := slices.ContainsFunc(r.values, func(want any) bool {
		if v.Kind() == reflect.String {
			return v.String() == reflect.ValueOf(want).String()
		}
		return reflect.DeepEqual(v.Interface(), want)
	})
	if accepted {
		return ""
	}
	return "this value is " + notHonoured
}
