// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

// onExit is a rule to restart a container.
func onExit(op corev1.ContainerRestartRuleOnExitCodesOperator, codes ...int32) corev1.ContainerRestartRule {
	return corev1.ContainerRestartRule{
		Action:    corev1.ContainerRestartRuleActionRestart,
		ExitCodes: &corev1.ContainerRestartRuleOnExitCodes{Operator: op, Values: codes},
	}
}

func TestShouldRestart(t *testing.T) {
	const (
		in    = corev1.ContainerRestartRuleOnExitCodesOpIn
		notIn = corev1.ContainerRestartRuleOnExitCodesOpNotIn
	)
	type rules = []corev1.ContainerRestartRule
	for name, tc := range map[string]struct {
		kind  containerKind
		pod   corev1.RestartPolicy
		own   corev1.ContainerRestartPolicy
		rules rules
		codes map[int32]bool
	}{
		"Always":                 {pod: "Always", codes: map[int32]bool{0: true, 1: true}},
		"OnFailure":              {pod: "OnFailure", codes: map[int32]bool{0: false, 1: true}},
		"Never":                  {pod: "Never", codes: map[int32]bool{0: false, 1: false}},
		"its own Never":          {pod: "Always", own: "Never", codes: map[int32]bool{0: false, 1: false}},
		"its own OnFailure":      {pod: "Never", own: "OnFailure", codes: map[int32]bool{0: false, 1: true}},
		"its own Always":         {pod: "Never", own: "Always", codes: map[int32]bool{0: true, 1: true}},
		"a rule":                 {pod: "Never", own: "Never", rules: rules{onExit(in, 42, 43)}, codes: map[int32]bool{0: false, 1: false, 42: true, 43: true}},
		"a rule of others":       {pod: "Never", own: "Never", rules: rules{onExit(notIn, 0, 1)}, codes: map[int32]bool{0: false, 1: false, 2: true}},
		"the second rule":        {pod: "Never", own: "Never", rules: rules{onExit(in, 1), onExit(in, 2)}, codes: map[int32]bool{2: true, 3: false}},
		"no rule fits":           {pod: "Never", own: "OnFailure", rules: rules{onExit(in, 42)}, codes: map[int32]bool{0: false, 1: true}},
		"init":                   {kind: initKind, pod: "Always", codes: map[int32]bool{0: false, 1: true}},
		"init, Never":            {kind: initKind, pod: "Never", codes: map[int32]bool{0: false, 1: false}},
		"init, its own Never":    {kind: initKind, pod: "Always", own: "Never", codes: map[int32]bool{0: false, 1: false}},
		"init, a rule":           {kind: initKind, pod: "Always", own: "Never", rules: rules{onExit(in, 0, 42)}, codes: map[int32]bool{0: false, 1: false, 42: true}},
		"sidecar":                {kind: initKind, pod: "Never", own: "Always", codes: map[int32]bool{0: true, 1: true}},
		"ephemeral under Always": {kind: ephemeralKind, pod: "Always", codes: map[int32]bool{0: false, 1: false}},
	} {
		t.Run(name, func(t *testing.T) {
			c := corev1.Container{Name: "c", RestartPolicyRules: tc.rules}
			if tc.own != "" {
				c.RestartPolicy = ptr.To(tc.own)
			}
			spec := &corev1.PodSpec{RestartPolicy: tc.pod}
			switch tc.kind {
			case initKind:
				spec.InitContainers = []corev1.Container{c}
			case ephemeralKind:
				spec.EphemeralContainers = []corev1.EphemeralContainer{{EphemeralContainerCommon: corev1.EphemeralContainerCommon(c)}}
			}
			for code, want := range tc.codes {
				if got := ShouldRestart(spec, &c, code); got != want {
					t.Errorf("after %d: %t", code, got)
				}
			}
		})
	}
}
