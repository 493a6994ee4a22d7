// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// A shell in a container, and its environment and arguments as a shell sees them.
func TestAShellScriptRuns(t *testing.T) {
	w := shared(t)
	c := app("c")
	c.Image = image("busybox:1")
	c.Env = []corev1.EnvVar{{Name: "A", Value: "a"}, {Name: "B", Value: "$(A)b"},
		{Name: "SCRIPT", Value: `id; pwd; echo "$A $0 $1"; test -x /bin/wget`}}
	c.Command = []string{"sh", "-c", "$(SCRIPT)"}
	c.Args = []string{"zero", "$(B)"}
	c.WorkingDir = "/tmp"
	p := pod("p", c)
	p.Spec.RestartPolicy = corev1.RestartPolicyNever
	w.create(p)
	w.wait("p", "succeeds", inPhase(corev1.PodSucceeded))
	if got := w.waitLog("p", "a zero ab"); !strings.Contains(got, "uid=0(root)") || !strings.Contains(got, "\n/tmp\n") {
		t.Errorf("log: %q", got)
	}
}
