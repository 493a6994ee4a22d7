// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	nodepb "github.com/berth-run/berth/proto/berth/node/v1"
)

func TestOpOf(t *testing.T) {
	with := func(change func(*corev1.Pod)) *corev1.Pod {
		pod := validPod()
		change(pod)
		return pod
	}
	ending := func(grace int64) *corev1.Pod {
		return with(func(p *corev1.Pod) {
			p.DeletionTimestamp = ptr.To(metav1.NewTime(time.Unix(1000+grace, 0)))
			p.DeletionGracePeriodSeconds = &grace
		})
	}
	endingLabelled := ending(30)
	endingLabelled.Labels = nil
	tests := map[string]struct {
		before, now *corev1.Pod
		want        Op
	}{
		"none":             {nil, nil, OpNone},
		"new":              {nil, validPod(), OpAdd},
		"new, ending":      {nil, ending(30), OpAdd},
		"gone":             {validPod(), nil, OpRemove},
		"another":          {validPod(), with(func(p *corev1.Pod) { p.UID = "u2" }), OpRemove},
		"same":             {validPod(), validPod(), OpNone},
		"version only":     {validPod(), with(func(p *corev1.Pod) { p.ResourceVersion = "8" }), OpNone},
		"image":            {validPod(), with(func(p *corev1.Pod) { p.Spec.Containers[0].Image = "x" }), OpUpdate},
		"label":            {validPod(), with(func(p *corev1.Pod) { p.Labels = nil }), OpUpdate},
		"annotation":       {validPod(), with(func(p *corev1.Pod) { p.Annotations = map[string]string{"a": ""} }), OpUpdate},
		"status":           {validPod(), with(func(p *corev1.Pod) { p.Status.PodIP = "10.0.0.1" }), OpReconcile},
		"ends":             {validPod(), ending(30), OpDelete},
		"ends sooner":      {ending(30), ending(5), OpDelete},
		"ending, same":     {ending(30), ending(30), OpNone},
		"ending, labelled": {ending(30), endingLabelled, OpUpdate},
	}
	for name, tc := range tests {
		if got := OpOf(tc.before, tc.now); got != tc.want {
			t.Errorf("%s: %s, want %s", name, got, tc.want)
		}
	}
}

func TestOpIsThatOfTheWire(t *testing.T) {
	for op := OpAdd; op <= OpReconcile; op++ {
		if wire := nodepb.PodUpdate_Op(op).String(); wire != op.String() {
			t.Errorf("%d is %s here and %s on the wire", op, op, wire)
		}
	}
}
