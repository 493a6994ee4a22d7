// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/berth-run/berth/api"
)

// Delete ends an object. Its record goes at once, unless finalizers hold it or
// something has to happen first: a pod that a registered node may run waits until
// the agent confirms (FinishPodDeletion), but not with a grace of 0; a namespace
// waits until its content is gone (FinalizeNamespace). Then the object only gets
// its deletion timestamp. The object returned is what was stored last; it has a
// deletion timestamp only if it lives on.
func (r *Registry) Delete(ctx context.Context, k *api.Kind, namespace, name string, o metav1.DeleteOptions) (api.Object, error) {
	if g := o.GracePeriodSeconds; g != nil && *g < 0 {
		return nil, apierrors.NewInvalid(k.GroupVersionKind().GroupKind(), name, field.ErrorList{
			field.Invalid(field.NewPath("gracePeriodSeconds"), *g, "must be greater than or equal to 0")})
	}
	if err := keepSystemClass(k, name); err != nil {
		return nil, err
	}
	if k == api.Namespaces {
		return r.deleteNamespace(ctx, name, o)
	}
	return r.delete(ctx, k, namespace, name, o)
}

func (r *Registry) delete(ctx context.Context, k *api.Kind, namespace, name string, o metav1.DeleteOptions) (api.Object, error) {
	dryRun := len(o.DryRun) > 0
	var last api.Object
	var gone bool
	obj, err := r.change(ctx, k, namespace, name, func(current api.Object) (decision, error) {
		if err := checkPreconditions(k, o, current); err != nil {
			return decision{}, err
		}
		d := r.decideDeletion(k, current, o)
		last, gone = d.result(current), d.remove
		if dryRun {
			return decision{}, nil
		}
		return d, nil
	})
	if err != nil {
		return nil, err
	}
	if dryRun {
		obj = last
	}
	if gone {
		obj = unmarked(obj)
	}
	return obj, nil
}

// decideDeletion says what a deletion does to an object.
func (r *Registry) decideDeletion(k *api.Kind, current api.Object, o metav1.DeleteOptions) decision {
	var d decision
	switch obj := current.(type) {
	case *corev1.Pod:
		d = decidePodDeletion(obj, o.GracePeriodSeconds, r.nodeMayRun(obj), r.now())
	case *corev1.Namespace:
		d = decision{write: terminating(obj, r.now())}
	default:
		d = decision{write: marked(obj, r.now())}
	}
	return d.propagated(k, current, o).settled(current, r.now())
}

func checkPreconditions(k *api.Kind, o metav1.DeleteOptions, current api.Object) error {
	p := o.Preconditions
	if p == nil {
		return nil
	}
	if p.UID != nil && *p.UID != current.GetUID() {
		return uidMismatch(k, current.GetName(), *p.UID, current.GetUID())
	}
	if p.ResourceVersion != nil && *p.ResourceVersion != current.GetResourceVersion() {
		return versionMismatch(k, current.GetName(), *p.ResourceVersion, current.GetResourceVersion())
	}
	return nil
}

// nodeMayRun tells whether there is an agent that has to end the pod first.
func (r *Registry) nodeMayRun(pod *corev1.Pod) bool {
	return pod.Spec.NodeName != "" && !api.IsTerminal(pod) && r.nodes.Registered(pod.Spec.NodeName)
}

// decidePodDeletion says what a deletion does to a pod. asked is the grace in
// seconds that the user asked for, if any; it may shorten a deletion that has
// begun, never lengthen it.
func decidePodDeletion(pod *corev1.Pod, asked *int64, nodeMayRun bool, now time.Time) decision {
	grace := int64(api.GracePeriod(pod) / time.Second)
	if asked != nil && (pod.DeletionTimestamp == nil || *asked < grace) {
		grace = *asked
	}
	d := decision{remove: !nodeMayRun || grace == 0}
	if d.remove && !graceMatters(pod, grace) {
		return d
	}
	d.tell = d.remove
	begun := now
	if pod.DeletionTimestamp != nil {
		begun = deletionBegan(pod)
	}
	next := pod.DeepCopy()
	until := metav1.NewTime(begun.Add(api.Seconds(grace))).Rfc3339Copy()
	next.DeletionTimestamp, next.DeletionGracePeriodSeconds = &until, &grace
	if pod.DeletionTimestamp == nil {
		next.Generation++
	}
	d.write = next
	return d
}

// graceMatters tells whether the grace of a removal is to be known to the pod's
// node, which may run the pod whatever its record says, and would not reckon with
// that grace by itself.
func graceMatters(pod *corev1.Pod, seconds int64) bool {
	return pod.Spec.NodeName != "" && api.GracePeriod(pod) != api.Seconds(seconds)
}

// deletionBegan returns when the deletion of a pod was first asked for.
func deletionBegan(pod *corev1.Pod) time.Time {
	return pod.DeletionTimestamp.Add(-api.GracePeriod(pod))
}

// FinishPodDeletion removes the record of a pod whose agent says that nothing of
// it runs any more, or leaves it without grace if finalizers hold it. It does nothing if the record is gone, belongs to another pod
// of the same name, or is not being deleted.
func (r *Registry) FinishPodDeletion(ctx context.Context, node, namespace, name string, uid types.UID) error {
	_, err := r.change(ctx, api.Pods, namespace, name, func(current api.Object) (decision, error) {
		pod := current.(*corev1.Pod)
		if pod.UID != uid || pod.DeletionTimestamp == nil {
			return decision{}, nil
		}
		return decision{remove: true}, requireBound(pod, node)
	})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// requireBound refuses a node's word about a pod of another node.
func requireBound(pod *corev1.Pod, node string) error {
	if pod.Spec.NodeName == node {
		return nil
	}
	return apierrors.NewForbidden(api.Pods.GroupResource(), pod.Name,
		fmt.Errorf("the pod is bound to node %q, not to %q", pod.Spec.NodeName, node))
}
