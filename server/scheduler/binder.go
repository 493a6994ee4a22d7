// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package scheduler

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-run/berth/api"
	"github.com/berth-run/berth/server/registry"
)

// Registry is what a binder needs of the registry.
type Registry interface {
	Bind(ctx context.Context, namespace string, b *corev1.Binding) error
	Create(ctx context.Context, k *api.Kind, obj api.Object, o registry.WriteOptions) (api.Object, []string, error)
	UpdateStatus(ctx context.Context, k *api.Kind, namespace, name string, obj api.Object, o registry.WriteOptions) (api.Object, error)
}

// NewBinder returns the Binder that writes to a registry: a Binding for a pod with
// a node; the condition PodScheduled and an event for one without.
func NewBinder(reg Registry) Binder { return binder{reg} }

type binder struct{ registry Registry }

func (b binder) Bind(ctx context.Context, pod *corev1.Pod, node string) error {
	err := b.registry.Bind(ctx, pod.Namespace, &corev1.Binding{
		ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID},
		Target:     corev1.ObjectReference{Kind: api.Nodes.Name, Name: node},
	})
	if apierrors.IsNotFound(err) {
		return nil // deleted meanwhile
	}
	return err
}

func (b binder) Unschedulable(ctx context.Context, pod *corev1.Pod, message string) error {
	if c := api.PodCondition(&pod.Status, corev1.PodScheduled); c != nil && c.Message == message {
		return nil
	}
	now := metav1.Now()
	next := pod.DeepCopy()
	api.SetPodCondition(&next.Status, corev1.PodCondition{
		Type: corev1.PodScheduled, Status: corev1.ConditionFalse,
		Reason: corev1.PodReasonUnschedulable, Message: message, LastTransitionTime: now,
	})
	_, err := b.registry.UpdateStatus(ctx, api.Pods, pod.Namespace, pod.Name, next, registry.WriteOptions{})
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil // something newer is known of the pod, and comes back as a change
	}
	if err != nil {
		return err
	}
	_, _, err = b.registry.Create(ctx, api.Events, failedScheduling(pod, message, now), registry.WriteOptions{})
	return err
}

func failedScheduling(pod *corev1.Pod, message string, now metav1.Time) *corev1.Event {
	return &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: pod.Namespace, Name: api.EventName(pod.Name, time.Now().UnixNano()),
		},
		InvolvedObject: corev1.ObjectReference{
			APIVersion: "v1", Kind: api.Pods.Name, Namespace: pod.Namespace, Name: pod.Name,
			UID: pod.UID, ResourceVersion: pod.ResourceVersion,
		},
		Type: corev1.EventTypeWarning, Reason: "FailedScheduling", Message: message,
		Source: corev1.EventSource{Component: corev1.DefaultSchedulerName},
		Count:  1, FirstTimestamp: now, LastTimestamp: now,
	}
}
