// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-run/berth/test/internal/harness"
)

// step is something that a user does, or waits to see.
type step func(u *user)

// does runs kubectl.
func does(args ...string) step { return func(u *user) { u.t.Helper(); u.kubectl(args...) } }

// prints waits until kubectl prints something.
func prints(pattern string, args ...string) step {
	return func(u *user) {
		u.t.Helper()
		var out string
		err := harness.Poll(u.ctx(), fmt.Sprintf("kubectl %q prints %q", args, pattern), func() (bool, error) {
			out = u.kubectl(args...)
			return regexp.MustCompile(pattern).MatchString(out), nil
		})
		if err != nil {
			u.t.Fatalf("%v; it is %q", err, out)
		}
	}
}

// isRunning waits for a pod that is Ready, and that was not restarted on its way.
func isRunning(name string) step {
	return func(u *user) {
		u.t.Helper()
		for _, s := range u.ready(name).Status.ContainerStatuses {
			if s.RestartCount != 0 {
				u.t.Errorf("container %s of pod %s was restarted %d times", s.Name, name, s.RestartCount)
			}
		}
	}
}

// wasBefore checks that a pod, by now Ready, ran in a way before.
func wasBefore(name, what string, ok func(*corev1.ContainerStatus) bool) step {
	return func(u *user) {
		u.t.Helper()
		for _, p := range u.seen.of(name) {
			if p.Status.Phase == corev1.PodRunning && !isReady(&p) && ok(&p.Status.ContainerStatuses[0]) {
				return
			}
		}
		u.t.Errorf("pod %s never was %s", name, what)
	}
}

// hasEnded waits for the pod's last phase, and checks how often a container of it was restarted.
func hasEnded(name string, phase corev1.PodPhase, of string, restarts int32) step {
	return func(u *user) {
		u.t.Helper()
		p := u.wait(name, "is "+string(phase), inPhase(phase))
		if s := container(p, of); s.RestartCount != restarts || s.State.Terminated == nil {
			u.t.Errorf("container %s of pod %s: %+v, want %d restarts", of, name, s, restarts)
		}
	}
}

// isRestarted waits until a container runs anew, for a reason that an event tells.
func isRestarted(name, of, event string) step {
	return func(u *user) {
		u.t.Helper()
		u.waitEvent(name, event)
		u.wait(name, "is restarted", func(p *corev1.Pod) bool {
			s := container(p, of)
			return s.RestartCount > 0 && s.LastTerminationState.Terminated != nil
		})
	}
}

// logs waits until the log of a container has all these texts.
func logs(name, container string, texts ...string) step {
	return func(u *user) {
		u.t.Helper()
		for _, text := range texts {
			u.waitLogOf(name, container, text)
		}
	}
}

// has waits until what a template of kubectl makes of the pod matches.
func has(name, jsonpath, pattern string) step {
	return prints(pattern, "get", "pod", name, "-o", "jsonpath="+jsonpath)
}

// serves fetches a page of the pod's.
func serves(name, path, text string) step {
	return func(u *user) {
		u.t.Helper()
		if got := u.page(u.ready(name), path); !strings.Contains(got, text) {
			u.t.Errorf("pod %s serves %q, want %q", name, got, text)
		}
	}
}

// claims checks those of the token that a container logs.
func claims(name, container, audience, account string) step {
	return func(u *user) {
		u.t.Helper()
		var c tokenClaims
		line, _, _ := strings.Cut(u.waitLogOf(name, container, "\n"), "\n")
		if err := json.Unmarshal([]byte(line), &c); err != nil {
			u.t.Fatalf("%q: %v", line, err)
		}
		want := "system:serviceaccount:" + u.ns + ":" + account
		if c.Subject != want || len(c.Audience) != 1 || c.Audience[0] != audience || c.Kubernetes.Pod.Name != name {
			u.t.Errorf("the token claims %s", line)
		}
	}
}
