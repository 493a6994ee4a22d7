// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/json"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-run/berth/test/internal/harness"
	"github.com/berth-run/berth/test/internal/testimage"
)

// allow makes all nodes fetch from a door of the registry.
func (w *world) allow(host string) {
	w.t.Helper()
	for _, n := range w.Nodes {
		if err := testimage.Mirror(n.CertsDir(), host, host); err != nil {
			w.t.Fatal(err)
		}
	}
}

func TestImagePullSecretsAreUsed(t *testing.T) {
	w := shared(t)
	host := registry.WithLogin("captain", "anchor")
	w.allow(host)
	c := app("c")
	c.Image = host + "/private:1"

	w.create(pod("without", c))
	w.wait("without", "is refused by the registry", func(p *corev1.Pod) bool {
		s := container(p, "c").State.Waiting
		return s != nil && strings.Contains(s.Reason, "Pull") &&
			(strings.Contains(s.Message, "401") || strings.Contains(strings.ToLower(s.Message), "unauthorized") || strings.Contains(s.Message, "authorization"))
	})

	auth, err := json.Marshal(map[string]any{"auths": map[string]any{host: map[string]string{"username": "captain", "password": "anchor"}}})
	if err != nil {
		t.Fatal(err)
	}
	w.secret("login", corev1.SecretTypeDockerConfigJson, map[string][]byte{corev1.DockerConfigJsonKey: auth})
	with := pod("with", c)
	with.Spec.ImagePullSecrets = []corev1.LocalObjectReference{{Name: "missing"}, {Name: "login"}}
	w.create(with)
	w.ready("with")
}

func TestAMissingImageIsNamedWithTheRegistrysError(t *testing.T) {
	w := shared(t)
	c := app("c")
	c.Image = image("nowhere:1")
	reasons := w.waitingReasons("c")
	w.create(pod("p", c))
	p := w.wait("p", "backs off its pull", waitsFor("c", "ImagePullBackOff"))
	s := container(p, "c")
	if p.Status.Phase != corev1.PodPending || s.RestartCount != 0 || !strings.Contains(s.State.Waiting.Message, "nowhere:1") {
		t.Errorf("phase %s, %+v", p.Status.Phase, s)
	}
	if !w.hasEvent("p", "not found") && !w.hasEvent("p", "404") {
		t.Error("no event tells what the registry said")
	}
	w.delete("p", -1)
	w.gone("p", testTimeout)
	if got := strings.Join(reasons(), " "); !strings.Contains(got, "ErrImagePull ImagePullBackOff") {
		t.Errorf("the container waited for %s", got)
	}
}

// waitingReasons watches what the container of the test's one pod waits for, from
// before its creation. The returned function gives the reasons, each time that
// they changed, once the pod is gone.
func (w *world) waitingReasons(name string) func() []string {
	var reasons []string
	watched := make(chan error, 1)
	ctx := w.ctx()
	go func() {
		watched <- w.WatchPods(ctx, harness.PodPath(w.ns, "")+"?watch=true", func(e harness.WatchEvent) bool {
			if s := container(&e.Object, name).State.Waiting; s != nil && (len(reasons) == 0 || reasons[len(reasons)-1] != s.Reason) {
				reasons = append(reasons, s.Reason)
			}
			return e.Type != "DELETED"
		})
	}()
	return func() []string {
		w.t.Helper()
		if err := <-watched; err != nil {
			w.t.Fatal("watch:", err)
		}
		return reasons
	}
}
