// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package dispatch

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-run/berth/api"
)

func TestPodOp(t *testing.T) {
	pod := func(version string, change ...func(*corev1.Pod)) *corev1.Pod {
		p := newPod("p", "n1")
		p.ResourceVersion = version
		for _, f := range change {
			f(p)
		}
		return p
	}
	deleting := func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{} }
	running := func(p *corev1.Pod) { p.Status.Phase = corev1.PodRunning }
	labelled := func(p *corev1.Pod) { p.Labels = map[string]string{"a": "b"} }
	sent := func(p *corev1.Pod) *heldPod { return &heldPod{version: p.ResourceVersion, pod: p} }
	told := func(version string) *heldPod { return &heldPod{version: version} }

	for _, test := range []struct {
		name string
		held *heldPod
		want *corev1.Pod
		op   api.Op
	}{
		{"nothing of nothing", nil, nil, api.OpNone},
		{"new", nil, pod("1"), api.OpAdd},
		{"new and ending", nil, pod("1", deleting), api.OpAdd},
		{"gone", told("1"), nil, api.OpRemove},
		{"same version", told("1"), pod("1"), api.OpNone},
		{"another version than was told", told("1"), pod("2", running), api.OpUpdate},
		{"ending since it was told", told("1"), pod("2", deleting), api.OpDelete},
		{"status since it was sent", sent(pod("1")), pod("2", running), api.OpReconcile},
		{"labels since it was sent", sent(pod("1")), pod("2", labelled, running), api.OpUpdate},
		{"ending since it was sent", sent(pod("1")), pod("2", labelled, deleting), api.OpDelete},
		{"nothing that matters", sent(pod("1")), pod("2"), api.OpNone},
	} {
		if op := podOp(test.held, test.want); op != test.op {
			t.Errorf("%s: %v, want %v", test.name, op, test.op)
		}
	}
}

func TestReferencesOf(t *testing.T) {
	secretRef := corev1.LocalObjectReference{Name: "by-secret-env"}
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns"},
		Spec: corev1.PodSpec{
			InitContainers: []corev1.Container{{EnvFrom: []corev1.EnvFromSource{
				{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "by-secret-from"}}},
				{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "by-map-from"}}},
			}}},
			Containers: []corev1.Container{{Env: []corev1.EnvVar{
				{Name: "A", Value: "plain"},
				{Name: "B", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{}}},
				{Name: "C", ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: secretRef}}},
				{Name: "D", ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: secretRef}}},
			}}},
			EphemeralContainers: []corev1.EphemeralContainer{{EphemeralContainerCommon: corev1.EphemeralContainerCommon{Env: []corev1.EnvVar{
				{Name: "A", ValueFrom: &corev1.EnvVarSource{ConfigMapKeyRef: &corev1.ConfigMapKeySelector{
					LocalObjectReference: corev1.LocalObjectReference{Name: "by-map-env"},
				}}},
			}}}},
			Volumes: []corev1.Volume{
				{VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
				{VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "by-secret-volume"}}},
				{VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
					LocalObjectReference: corev1.LocalObjectReference{Name: "by-map-volume"},
				}}},
				{VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{
					{Secret: &corev1.SecretProjection{LocalObjectReference: corev1.LocalObjectReference{Name: "by-secret-projection"}}},
					{ConfigMap: &corev1.ConfigMapProjection{LocalObjectReference: corev1.LocalObjectReference{Name: "by-map-projection"}}},
				}}}},
			},
			ImagePullSecrets: []corev1.LocalObjectReference{{Name: "by-pull"}, {}},
		},
	}
	var got []string
	for key := range referencesOf(pod) {
		if key.namespace != "ns" {
			t.Errorf("%v is of another namespace", key)
		}
		got = append(got, key.kind.Name+" "+key.name)
	}
	slices.Sort(got)
	equal(t, got,
		"ConfigMap by-map-env", "ConfigMap by-map-from", "ConfigMap by-map-projection", "ConfigMap by-map-volume",
		"Secret by-pull", "Secret by-secret-env", "Secret by-secret-from", "Secret by-secret-projection", "Secret by-secret-volume")
}

func TestMarks(t *testing.T) {
	m := newMarks[string](make(chan struct{}, 1))
	m.hold([]string{"held"})
	m.changed("a")
	m.gone("held")
	m.changed("brief")
	m.gone("brief")
	m.changed("a")
	m.changed("b")
	equal(t, m.take(), "a", "held", "b")
	equal(t, m.take())
	m.gone("a")
	m.forget("b")
	m.gone("b")
	equal(t, m.take(), "a")
}

// Whatever comes and goes while nobody takes, marks stay small.
func TestMarksStayBounded(t *testing.T) {
	m := newMarks[int](make(chan struct{}, 1))
	m.changed(-1)
	for i := range 10000 {
		m.changed(i)
		m.gone(i)
	}
	if len(m.order) > 200 || len(m.dirty) != 1 || len(m.known) != 0 {
		t.Errorf("%d in order, %d dirty, %d known", len(m.order), len(m.dirty), len(m.known))
	}
	if got := m.take(); !slices.Equal(got, []int{-1}) {
		t.Errorf("took %v", got)
	}
}
