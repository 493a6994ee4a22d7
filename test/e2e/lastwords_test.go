// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func TestLastWordsOfContainers(t *testing.T) {
	w := shared(t)
	p := pod("p",
		shell("file", "echo said > /tmp/end; echo logged"),
		shell("log", "for i in $(seq 100); do echo line $i; done; exit 1"),
		shell("fine", "echo logged"),
		shell("long", "head -c 5000 /dev/zero | tr '\\0' x > /dev/termination-log"))
	p.Spec.RestartPolicy = corev1.RestartPolicyNever
	p.Spec.Containers[0].TerminationMessagePath = "/tmp/end"
	for i := range 3 {
		p.Spec.Containers[i].TerminationMessagePolicy = corev1.TerminationMessageFallbackToLogsOnError
	}
	w.create(p)
	p = w.wait("p", "has ended", inPhase(corev1.PodFailed))
	said := func(name string) string { return container(p, name).State.Terminated.Message }
	if said("file") != "said\n" || said("fine") != "" {
		t.Errorf("file says %q, fine says %q", said("file"), said("fine"))
	}
	if lines := strings.Split(strings.TrimSpace(said("log")), "\n"); len(lines) != 80 || lines[79] != "line 100" {
		t.Errorf("log says %q", lines)
	}
	// A quarter of what a pod may say.
	if n := len(said("long")); n != 3072 {
		t.Errorf("long says %d bytes", n)
	}
}

func TestTerminalAndStdin(t *testing.T) {
	w := shared(t)
	p := pod("p", shell("terminal", "test -t 1 && echo a terminal of type $TERM; sleep 3600"),
		shell("open", "cat; echo stdin has ended; sleep 3600"), shell("closed", "cat; echo stdin has ended; sleep 3600"))
	p.Spec.Containers[0].TTY = true
	p.Spec.Containers[1].Stdin, p.Spec.Containers[1].StdinOnce = true, true
	w.create(p)
	w.ready("p")
	w.waitLogOf("p", "terminal", "a terminal of type xterm")
	w.waitLogOf("p", "closed", "stdin has ended")
	if log, err := w.Text(w.ctx(), "/api/v1/namespaces/"+w.ns+"/pods/p/log?container=open"); err != nil || log != "" {
		t.Errorf("the container with an open stdin says %q, %v", log, err)
	}
}
