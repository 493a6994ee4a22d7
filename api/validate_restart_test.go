// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

func TestValidateRestart(t *testing.T) {
	const at = "spec.containers[0]."
	never := ptr.To(corev1.ContainerRestartPolicyNever)
	rule := onExit(corev1.ContainerRestartRuleOnExitCodesOpIn, 42)
	changed := func(change func(*corev1.ContainerRestartRule)) []corev1.ContainerRestartRule {
		r := *rule.DeepCopy()
		change(&r)
		return []corev1.ContainerRestartRule{r}
	}
	for name, tc := range map[string]struct {
		policy *corev1.ContainerRestartPolicy
		rules  []corev1.ContainerRestartRule
		path   string // empty: allowed
		words  string
	}{
		"a policy":         {policy: never},
		"rules":            {policy: never, rules: slices.Repeat([]corev1.ContainerRestartRule{rule}, 20)},
		"unknown policy":   {policy: ptr.To(corev1.ContainerRestartPolicy("Ask")), path: at + "restartPolicy", words: `supported values: "Always", "Never", "OnFailure"`},
		"no policy":        {rules: []corev1.ContainerRestartRule{rule}, path: at + "restartPolicy", words: "must specify restartPolicy when restart rules are used"},
		"too many rules":   {policy: never, rules: slices.Repeat([]corev1.ContainerRestartRule{rule}, 21), path: at + "restartPolicyRules", words: "must have at most 20 items"},
		"unknown action":   {policy: never, rules: changed(func(r *corev1.ContainerRestartRule) { r.Action = "RestartAllContainers" }), path: at + "restartPolicyRules[0].action", words: `supported values: "Restart"`},
		"no exit codes":    {policy: never, rules: changed(func(r *corev1.ContainerRestartRule) { r.ExitCodes = nil }), path: at + "restartPolicyRules[0].exitCodes", words: "must be specified"},
		"unknown operator": {policy: never, rules: changed(func(r *corev1.ContainerRestartRule) { r.ExitCodes.Operator = "Like" }), path: at + "restartPolicyRules[0].exitCodes.operator", words: `supported values: "In", "NotIn"`},
		"too many codes": {policy: never, rules: changed(func(r *corev1.ContainerRestartRule) { r.ExitCodes.Values = make([]int32, 256) }),
			path: at + "restartPolicyRules[0].exitCodes.values", words: "must have at most 255 items"},
	} {
		t.Run(name, func(t *testing.T) {
			pod := validPod()
			pod.Spec.Containers[0].RestartPolicy, pod.Spec.Containers[0].RestartPolicyRules = tc.policy, tc.rules
			checkError(t, pod, tc.path, tc.words)
		})
	}
}

func TestInitContainersMayHaveRestartPolicies(t *testing.T) {
	for _, policy := range []corev1.ContainerRestartPolicy{
		corev1.ContainerRestartPolicyAlways, corev1.ContainerRestartPolicyOnFailure, corev1.ContainerRestartPolicyNever,
	} {
		pod := validPod()
		pod.Spec.InitContainers[0].RestartPolicy = &policy
		checkError(t, pod, "", "")
	}
}

// A sidecar runs long enough for what regular containers have.
func TestSidecarsMayHaveHooks(t *testing.T) {
	pod := validPod()
	pod.Spec.InitContainers[0].Lifecycle = &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{}}
	checkError(t, pod, "spec.initContainers[0].lifecycle", "may not be set for init containers without restartPolicy=Always")
	pod.Spec.InitContainers[0].RestartPolicy = ptr.To(corev1.ContainerRestartPolicyAlways)
	checkError(t, pod, "spec.initContainers[0].lifecycle.preStop", "must specify a handler type")
}

// checkError wants one error of a new pod, or none where path is empty.
func checkError(t *testing.T, pod *corev1.Pod, path, words string) {
	t.Helper()
	errs := ValidateCreate(Pods, pod)
	checkFields(t, fieldsOf(errs), path)
	if err := errs.ToAggregate(); err != nil && !strings.Contains(err.Error(), words) {
		t.Errorf("%v, want %q", err, words)
	}
}
