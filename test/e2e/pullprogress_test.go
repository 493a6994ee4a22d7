// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"regexp"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// saysWaiting waits until the container's state says so while it waits.
func (w *world) saysWaiting(pod, reason string, message *regexp.Regexp) {
	w.t.Helper()
	w.wait(pod, "says "+message.String(), func(p *corev1.Pod) bool {
		s := container(p, "c").State.Waiting
		return s != nil && s.Reason == reason && message.MatchString(s.Message)
	})
}

func TestAContainerSaysHowFarItsImageIs(t *testing.T) {
	w := shared(t)
	w.variant("progress:1", 24<<20)
	door := registry.Throttled(512 << 10)
	w.allow(door.Host)
	image := door.Host + "/progress:1"
	w.create(privatePod("p", image, corev1.PullAlways))
	w.saysWaiting("p", "ContainerCreating", regexp.MustCompile(
		"^Pulling image \""+regexp.QuoteMeta(image)+"\": [1-9][0-9]* MiB of (2[4-9]|3[0-9]) MiB$"))
	w.delete("p", 0)
	w.gone("p", testTimeout)
}

// A registry that stops in mid-sentence is an error that says so. The next pod, of
// another door, is not the worse for it.
func TestAPullWithoutProgressIsCancelled(t *testing.T) {
	w := own(t, 1, "--image-pull-progress-deadline", "5s", "--max-parallel-image-pulls", "2")
	w.variant("stall:1", 4<<20)
	stalling := registry.Stalling(64 << 10)
	w.allow(stalling.Host)
	w.create(privatePod("stalls", stalling.Host+"/stall:1", corev1.PullIfNotPresent))
	w.saysWaiting("stalls", "ImagePullBackOff", regexp.MustCompile(`ErrImagePull: .*no progress for \ds at .* MiB, so the pull was cancelled`))
	w.create(privatePod("p", image("stall:1"), corev1.PullIfNotPresent))
	w.ready("p")
	if !w.hasEvent("p", "including waiting). Image size: ") {
		t.Error("no event tells how long the pull took")
	}
}

// Names with a tag and a digest, or a digest alone, are the image of the digest.
func TestImagesByDigest(t *testing.T) {
	w := shared(t)
	w.variant("digest:1")
	w.variant("digest:2")
	digest := w.digest("digest:1")
	for name, image := range map[string]string{"both": image("digest:2@" + digest), "digest": image("digest@" + digest)} {
		w.create(privatePod(name, image, ""))
		if id := container(w.ready(name), "c").ImageID; !strings.HasSuffix(id, digest) {
			t.Errorf("%s runs %s, want %s", image, id, digest)
		}
		if policy := w.get(name).Spec.Containers[0].ImagePullPolicy; policy != corev1.PullIfNotPresent {
			t.Errorf("%s has the policy %s", image, policy)
		}
	}
}

// digest is that of an image in the registry.
func (w *world) digest(path string) string {
	w.t.Helper()
	image, err := registry.Image(path)
	if err != nil {
		w.t.Fatal(err)
	}
	digest, err := image.Digest()
	if err != nil {
		w.t.Fatal(err)
	}
	return digest.String()
}
