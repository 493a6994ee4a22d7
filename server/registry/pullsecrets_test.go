// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-run/berth/api"
	"github.com/berth-run/berth/store/bolt"
)

func TestPodsGetThePullSecretsOfTheirAccount(t *testing.T) {
	w := newWorld(t, bolt.Options{})
	secrets := func(names ...string) (all []corev1.LocalObjectReference) {
		for _, name := range names {
			all = append(all, corev1.LocalObjectReference{Name: name})
		}
		return all
	}
	create := func(name string, own ...string) *corev1.Pod {
		p := newPod(name, "")
		p.Spec.ImagePullSecrets = secrets(own...)
		return w.create(api.Pods, p).(*corev1.Pod)
	}
	expect := func(p *corev1.Pod, want ...string) {
		t.Helper()
		if got := p.Spec.ImagePullSecrets; fmt.Sprint(got) != fmt.Sprint(secrets(want...)) {
			t.Errorf("pod %s has %v, want %v", p.Name, got, want)
		}
	}
	expect(create("without-an-account"))
	w.create(api.ServiceAccounts, &corev1.ServiceAccount{
		ObjectMeta: metav1.ObjectMeta{Name: "default"}, ImagePullSecrets: secrets("a", "b"),
	})
	expect(create("without-its-own"), "a", "b")
	expect(create("with-its-own", "c"), "c")
	mirror := newPod("mirror", "")
	mirror.Annotations = map[string]string{corev1.MirrorPodAnnotationKey: "x"}
	expect(w.create(api.Pods, mirror).(*corev1.Pod))
}
