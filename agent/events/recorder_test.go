// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package events

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-run/berth/agent/podtypes"
)

var _ podtypes.EventRecorder = (*Recorder)(nil)

func TestEventsNameWhatTheyAreAbout(t *testing.T) {
	r := New("n1")
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "uid-1", ResourceVersion: "7"}}
	r.Record(pod, "spec.containers{a}", corev1.EventTypeWarning, "BackOff", "restarting")
	r.RecordNode(corev1.EventTypeNormal, "NodeReady", "fine")

	ofPod, ofNode := <-r.Events(), <-r.Events()
	if want := (corev1.ObjectReference{
		APIVersion: "v1", Kind: "Pod", Namespace: "shop", Name: "web", UID: "uid-1", ResourceVersion: "7", FieldPath: "spec.containers{a}",
	}); ofPod.InvolvedObject != want || ofPod.Namespace != "shop" {
		t.Errorf("in %s, about %+v", ofPod.Namespace, ofPod.InvolvedObject)
	}
	if want := (corev1.ObjectReference{APIVersion: "v1", Kind: "Node", Name: "n1", UID: "n1"}); ofNode.InvolvedObject != want || ofNode.Namespace != "default" {
		t.Errorf("in %s, about %+v", ofNode.Namespace, ofNode.InvolvedObject)
	}
	for _, e := range []*corev1.Event{ofPod, ofNode} {
		if e.Source != (corev1.EventSource{Component: "berth-agent", Host: "n1"}) {
			t.Errorf("source %+v", e.Source)
		}
	}
}
