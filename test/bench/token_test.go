// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// BenchmarkPodWithToken starts in each turn a plain pod and one with a token of its
// ServiceAccount, which is to be ready within 1.3 of the plain one's time.
func BenchmarkPodWithToken(b *testing.B) {
	c := newCluster(b)
	w := &workload{b: b, cluster: c, events: c.watchPods(b)}
	var plain, token sample
	turn := func() {
		plain = append(plain, w.startAndEnd(newPod(w.nextName())))
		token = append(token, w.startAndEnd(withToken(newPod(w.nextName()))))
	}
	turn()
	plain, token = nil, nil // that was to warm up
	for b.Loop() {
		turn()
	}
	b.ReportMetric(token.median()/plain.median(), "start-ratio")
	fmt.Printf("\n%d pods each, in turn; POST → Ready, ms: plain %s, with a token %s, ratio %.2f (goal ≤ 1.3)\n",
		len(plain), one(plain.median()), one(token.median()), token.median()/plain.median())
}

// startAndEnd returns how long the pod took to be ready.
func (w *workload) startAndEnd(pod *corev1.Pod) time.Duration {
	w.b.Helper()
	time.Sleep(settle)
	begin := time.Now()
	took := w.postPod(pod).at.Sub(begin)
	time.Sleep(settle)
	w.delete(pod.Name)
	return took
}

func withToken(pod *corev1.Pod) *corev1.Pod {
	pod.Spec.Volumes = []corev1.Volume{{Name: "token", VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{
		Sources: []corev1.VolumeProjection{{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{Path: "token"}}},
	}}}}
	pod.Spec.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "token", MountPath: "/token"}}
	return pod
}
