// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package events tells of what happens to the node and its pods, and keeps that for
// the session that takes it to the server.
package events

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-run/berth/api"
	"github.com/berth-run/berth/internal/eventrecorder"
)

// Component is the source of every event.
const Component = "berth-agent"

// Recorder implements podtypes.EventRecorder over a bounded queue.
type Recorder struct {
	*eventrecorder.Recorder
	source corev1.EventSource
}

// New returns the empty Recorder of the node.
func New(node string) *Recorder {
	return &Recorder{Recorder: eventrecorder.New(), source: corev1.EventSource{Component: Component, Host: node}}
}

// Record notes an event of a pod; see podtypes.EventRecorder.
func (r *Recorder) Record(pod *corev1.Pod, fieldPath, eventType, reason, message string) {
	r.Recorder.Record(r.source, corev1.ObjectReference{
		APIVersion:      api.Pods.GroupVersionKind().GroupVersion().String(),
		Kind:            api.Pods.Name,
		Namespace:       pod.Namespace,
		Name:            pod.Name,
		UID:             pod.UID,
		ResourceVersion: pod.ResourceVersion,
		FieldPath:       fieldPath,
	}, eventType, reason, message)
}

// RecordNode notes an event of the node itself. It has the node's name for a UID, as
// those of kubelets have: that is where kubectl looks for them.
func (r *Recorder) RecordNode(eventType, reason, message string) {
	r.Recorder.Record(r.source, corev1.ObjectReference{
		APIVersion: api.Nodes.GroupVersionKind().GroupVersion().String(),
		Kind:       api.Nodes.Name,
		Name:       r.source.Host,
		UID:        types.UID(r.source.Host),
	}, eventType, reason, message)
}
