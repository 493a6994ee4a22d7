// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podmanager

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

func newPod(name string, uid types.UID) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: uid}}
}

func TestManager(t *testing.T) {
	m := New()
	old, next := newPod("a", "1"), newPod("a", "2")
	m.SetPod(old)
	if got, ok := m.PodByUID("1"); !ok || got != old {
		t.Error("not found by UID")
	}
	m.SetPod(next)
	if _, ok := m.PodByUID("1"); ok {
		t.Error("the former pod of the name is still there")
	}
	m.RemovePod(old)
	if got, ok := m.PodByFullName("default/a"); !ok || got != next {
		t.Error("the removal of the former pod took its successor")
	}
	m.RemovePod(next)
	if len(m.Pods()) != 0 {
		t.Error("not removed")
	}
}

func TestMirror(t *testing.T) {
	m := New()
	static, mirror := newPod("a", "1"), newPod("a", "2")
	mirror.Annotations = map[string]string{corev1.MirrorPodAnnotationKey: "hash"}
	m.SetPod(static)
	m.SetPod(mirror)
	if pods := m.Pods(); len(pods) != 1 || pods[0] != static {
		t.Errorf("pods %v, want the static one alone", pods)
	}
	if got, _ := m.PodByUID("2"); got != static {
		t.Error("the mirror's UID does not lead to the static pod")
	}
	if m.Mirror(static) != mirror {
		t.Error("no mirror")
	}
	m.RemovePod(mirror)
	if _, ok := m.PodByUID("1"); !ok || m.Mirror(static) != nil {
		t.Error("want the mirror alone removed")
	}
}
