// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package scheduler

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-run/berth/api"
	"github.com/berth-run/berth/server/registry"
)

// Registry is what a binder needs of the registry.
type Registry interface {
	Bind(ctx context.Context, namespace string, b *corev1.Binding) error
	UpdateStatus(ctx context.Context, k *api.Kind, namespace, name string, obj api.Object, o registry.WriteOptions) (api.Object, error)
}

// Events tells users what became of a pod. Record never blocks.
type Events interface {
	Record(about corev1.ObjectReference, eventType, reason, message string)
}

// NewBinder returns the Binder that writes to a registry: a Binding for a pod with
// a node, the condition PodScheduled for one without; and an event of either.
func NewBinder(reg Registry, events Events) Binder { return binder{reg, events} }

type binder struct {
	registry Registry
	events   Events
}

func (b binder) Bind(ctx context.Context, pod *corev1.Pod, node string) error {
	err := b.registry.Bind(ctx, pod.Namespace, &corev1.Binding{
		ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID},
		Target:     corev1.ObjectReference{Kind: api.Nodes.Name, Name: node},
	})
	if apierrors.IsNotFound(err) {
		return nil // deleted meanwhile
	}
	if err == nil {
		b.tell(pod, corev1.EventTypeNormal, "Scheduled", fmt.Sprintf("Successfully assigned %s to %s", api.FullName(pod), node))
	}
	return err
}

func (b binder) Unschedulable(ctx context.Context, pod *corev1.Pod, v Verdict) error {
	if c := api.PodCondition(&pod.Status, corev1.PodScheduled); c != nil && c.Message == v.Message {
		if v.Remind {
			b.tell(pod, corev1.EventTypeWarning, "FailedScheduling", v.Message)
		}
		return nil
	}
	next := pod.DeepCopy()
	api.SetPodCondition(&next.Status, corev1.PodCondition{
		Type: corev1.PodScheduled, Status: corev1.ConditionFalse,
		Reason: corev1.PodReasonUnschedulable, Message: v.Message, LastTransitionTime: metav1.Now(),
	})
	_, err := b.registry.UpdateStatus(ctx, api.Pods, pod.Namespace, pod.Name, next, registry.WriteOptions{})
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil // something newer is known of the pod, and comes back as a change
	}
	if err == nil {
		b.tell(pod, corev1.EventTypeWarning, "FailedScheduling", v.Message)
	}
	return err
}

func (b binder) tell(pod *corev1.Pod, eventType, reason, message string) {
	b.events.Record(corev1.ObjectReference{
		APIVersion: api.Pods.GroupVersionKind().GroupVersion().String(), Kind: api.Pods.Name,
		Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID, ResourceVersion: pod.ResourceVersion,
	}, eventType, reason, message)
}
