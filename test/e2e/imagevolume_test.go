// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func imageVolume(path string, policy corev1.PullPolicy) corev1.VolumeSource {
	return corev1.VolumeSource{Image: &corev1.ImageVolumeSource{Reference: image(path), PullPolicy: policy}}
}

func TestAnImageIsMountedAsAVolume(t *testing.T) {
	w := shared(t)
	p := serving("p", map[string]corev1.VolumeSource{"files": imageVolume("app:2", corev1.PullIfNotPresent)})
	w.create(p)
	ready := w.ready("p")
	w.files(ready, map[string]string{"/files/version": "2", "/version": "1"})
	for line := range strings.Lines(w.page(ready, "/file?path=/proc/mounts")) {
		if f := strings.Fields(line); f[1] == "/files" && !strings.HasPrefix(f[3], "ro,") {
			t.Errorf("the image can be written to: %s", line)
		}
	}
	w.delete("p", 0)
	w.gone("p", testTimeout)
}

func TestAnImageVolumeWithoutItsImage(t *testing.T) {
	for name, tc := range map[string]struct {
		source corev1.VolumeSource
		reason string
	}{
		"not in the registry": {imageVolume("none:1", corev1.PullIfNotPresent), "ErrImagePull"},
		"never to be pulled":  {imageVolume("none:2", corev1.PullNever), "ErrImageNeverPull"},
	} {
		t.Run(name, func(t *testing.T) {
			w := shared(t)
			w.create(serving("p", map[string]corev1.VolumeSource{"files": tc.source}))
			w.wait("p", "says why", func(p *corev1.Pod) bool {
				s := container(p, "c").State.Waiting
				return s != nil && (s.Reason == tc.reason || s.Reason == "ImagePullBackOff") && strings.Contains(s.Message, tc.source.Image.Reference)
			})
			w.waitEvent("p", tc.source.Image.Reference)
		})
	}
}
