// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

// A container that is not root writes to an emptyDir and reads a Secret by the pod's
// group, and sees the same of a part of a volume.
func TestVolumesAreOfThePodsGroup(t *testing.T) {
	w := shared(t)
	w.secret("s", corev1.SecretTypeOpaque, map[string][]byte{"k": []byte("secret")})
	c := mounting(shell("c", `
		echo own > /disk/f && stat -c "%n is of %g" /disk/f
		echo own > /memory/f && stat -c "%n is of %g" /memory/f
		echo own > /part/f && stat -c "%n is of %g" /part/f
		cat /secret/k; echo; echo new >> /secret/k || echo "cannot write secrets"; echo tried; sleep 1000`),
		corev1.VolumeMount{Name: "disk", MountPath: "/part", SubPath: "a/b"})
	p := pod("p", c)
	withVolume(p, "/disk", emptyDir("", ""))
	withVolume(p, "/memory", emptyDir(corev1.StorageMediumMemory, "1Mi"))
	withVolume(p, "/secret", corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "s", DefaultMode: ptr.To(int32(0o400))}})
	p.Spec.SecurityContext = &corev1.PodSecurityContext{
		RunAsUser: ptr.To(int64(1000)), RunAsGroup: ptr.To(int64(1000)), FSGroup: ptr.To(int64(2000)),
		FSGroupChangePolicy: ptr.To(corev1.FSGroupChangeOnRootMismatch),
	}
	w.create(p)
	wantLines(t, w.waitLog("p", "tried"), "/disk/f is of 2000", "/memory/f is of 2000", "/part/f is of 2000", "secret", "cannot write secrets")
}
