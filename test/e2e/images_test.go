// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"strings"
	"testing"
	"time"

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

// variant pushes an image that runs as app:1 does and has random layers of so many
// bytes on top of it. No node has it yet.
func (w *world) variant(path string, layers ...int64) {
	w.t.Helper()
	image, err := registry.Image("app:1")
	if err == nil {
		image, err = testimage.Grow(image, append(layers, 16)...)
	}
	if err == nil {
		err = registry.Push(path, image)
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

// An image that takes minutes holds up no other: not one that is to be asked for
// anew, nor one that is small. It has more layers than containerd by itself would
// fetch at once for all images together.
func TestB080ALargeImageHoldsUpNoOther(t *testing.T) {
	w := shared(t)
	w.variant("b080-local:1")
	w.variant("b080-small:1")
	const layer = 8 << 20
	w.variant("b080-large:1", layer, layer, layer, layer, layer)
	door := registry.Throttled(50 << 10)
	w.allow(door.Host)
	with := func(image string, policy corev1.PullPolicy) corev1.Container {
		c := app("c")
		c.Image, c.ImagePullPolicy = image, policy
		return c
	}
	w.create(onNode(pod("before", with(image("b080-local:1"), corev1.PullIfNotPresent)), "node1"))
	w.ready("before")
	for _, name := range []string{"pod-0", "pod-0-too"} {
		w.create(onNode(pod(name, with(door.Host+"/b080-large:1", "")), "node1"))
	}
	err := harness.Poll(w.ctx(), "the layers are being fetched", func() (bool, error) { return door.Active() >= 5, nil })
	if err != nil {
		t.Fatal(err)
	}

	began := time.Now()
	w.create(onNode(pod("pod-1", with(image("b080-local:1"), corev1.PullAlways)), "node1"))
	w.create(onNode(pod("pod-2", with(image("b080-small:1"), "")), "node1"))
	w.ready("pod-1")
	w.ready("pod-2")
	t.Logf("the others ran after %s", time.Since(began).Round(time.Millisecond))
	if isReady(w.get("pod-0")) {
		t.Error("the large image was no large one")
	}
	if n := door.Active(); n > 5 {
		t.Errorf("%d layers are being fetched: the image of two pods is pulled twice", n)
	}
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
