// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// An image that one namespace's pod pulled with its login is on the node, and yet not
// for the pods of another: those have to pull it, and without a login cannot. The
// agent remembers that when it comes back.
func TestB079PrivateImagesAreForThoseWhoCanPullThem(t *testing.T) {
	a := own(t, 1)
	b := enter(t, a.Cluster)
	host := registry.WithLogin("captain", "anchor")
	a.allow(host)
	a.variant("b079/priv:1")
	image := host + "/b079/priv:1"
	a.dockercfg("login", "captain", "anchor", host)
	a.create(privatePod("first", image, corev1.PullIfNotPresent, "login"))
	digest, _ := strings.CutPrefix(container(a.ready("first"), "c").ImageID, "docker-pullable://")

	tenants := func(suffix string) {
		a.create(privatePod("again"+suffix, image, corev1.PullNever, "login"))
		b.create(privatePod("absent"+suffix, image, corev1.PullIfNotPresent))
		b.create(privatePod("never"+suffix, image, corev1.PullNever))
		b.create(privatePod("by-id"+suffix, digest, corev1.PullNever))
		a.ready("again" + suffix)
		b.refused("absent"+suffix, "ImagePullBackOff")
		for _, name := range []string{"never", "by-id"} {
			b.wait(name+suffix, "may not use the image", func(p *corev1.Pod) bool {
				s := container(p, "c").State.Waiting
				return s != nil && s.Reason == "ErrImageNeverPull" && strings.Contains(s.Message, "with credentials that this pod does not have")
			})
		}
	}
	tenants("")

	node := a.Nodes[0]
	if err := node.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := node.Start(); err != nil {
		t.Fatal(err)
	}
	tenants("-later")

	// The same login is known by whatever secret; another has to prove itself.
	b.dockerconfigjson("login", "captain", "anchor", host)
	b.create(privatePod("with", image, corev1.PullNever, "login"))
	b.ready("with")
}
