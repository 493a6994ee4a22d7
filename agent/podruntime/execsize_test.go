// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podruntime

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// doublings are variables of which each is the one before it, twice.
func doublings(n int) []corev1.EnvVar {
	all := []corev1.EnvVar{{Name: "A0", Value: strings.Repeat("x", 64)}}
	for i := range n {
		all = append(all, corev1.EnvVar{Name: fmt.Sprintf("A%d", i+1), Value: fmt.Sprintf("$(A%d)$(A%d)", i, i)})
	}
	return all
}

func TestWhatAProgramIsStartedWithIsBounded(t *testing.T) {
	long := strings.Repeat("x", maxString-len("V=\x00"))
	several := func(value string, n int) (all []corev1.EnvVar) {
		for i := range n {
			all = append(all, corev1.EnvVar{Name: fmt.Sprintf("V%d", i), Value: value})
		}
		return all
	}
	for name, tc := range map[string]struct {
		env           []corev1.EnvVar
		command, args []string
		want          string // "" if it is within the bounds
	}{
		"a kernel's string":  {env: []corev1.EnvVar{{Name: "V", Value: long}}},
		"one byte more":      {env: []corev1.EnvVar{{Name: "V", Value: long + "x"}}, want: "env V: longer than 128 KiB"},
		"ten doublings":      {env: doublings(10), command: []string{"$(A10)"}},
		"fifty doublings":    {env: doublings(50), want: "env A11: longer than 128 KiB"},
		"one variable again": {env: append(doublings(10), several("$(A10)", 100)...), want: "env V13: too long: with it, variables and arguments are larger than 1024 KiB"},
		"an argument":        {env: doublings(10), args: []string{"x", "$(A10)$(A10)"}, want: "args[1]: longer than 128 KiB"},
		"a command":          {env: doublings(10), command: []string{"$(A10)$(A10)"}, want: "command[0]: longer than 128 KiB"},
		"many arguments":     {env: doublings(10), args: strings.Split(strings.Repeat("$(A10) ", 100), " "), want: "args[14]: too long: with it, variables and arguments are larger than 1024 KiB"},
		"what an object has too much": {env: []corev1.EnvVar{{Name: "V", ValueFrom: &corev1.EnvVarSource{ConfigMapKeyRef: &corev1.ConfigMapKeySelector{
			LocalObjectReference: corev1.LocalObjectReference{Name: "big"}, Key: "k"}}}}, want: "env V: longer than 128 KiB"},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t)
			h.objects["big"] = &corev1.ConfigMap{Data: map[string]string{"k": long + "x"}}
			pod := testPod("web")
			c := &pod.Spec.Containers[0]
			c.Env, c.Command, c.Args = tc.env, tc.command, tc.args
			_, err := h.containerConfig(pod, c, 0, nil)
			if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.HasPrefix(err.Error(), tc.want)) {
				t.Errorf("error %v, want %q", err, tc.want)
			}
		})
	}
}

func TestAContainerWithTooLargeVariablesWaits(t *testing.T) {
	h := newHarness(t)
	pod := testPod("web")
	pod.Spec.Containers[0].Env = doublings(20)
	if got := h.sync(t, pod).Reasons["web"]; got.Reason != "CreateContainerConfigError" || !strings.HasPrefix(got.Message, "env A11: ") {
		t.Errorf("the container waits for %+v", got)
	}
}

// Nothing larger than the bound is built on the way to it.
func TestExpandBuildsNoMoreThanThereIsRoomFor(t *testing.T) {
	vars := map[string]string{"A": strings.Repeat("x", maxString)}
	s := strings.Repeat("$(A)", 1<<16) // 8 GiB
	if got := testing.AllocsPerRun(1, func() {
		if _, ok := expand(s, vars, maxString); ok {
			t.Error("it has room")
		}
	}); got > 20 {
		t.Errorf("%.0f allocations", got)
	}
}
