// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/berth-run/berth/api"
)

// ApplyPodStatus stores what the agent of node reports of a pod, and returns the
// pod's resourceVersion. A report about another pod of the same name (the UID
// differs) is refused with reason Conflict, one about a pod of another node with
// Forbidden. A report that changes nothing writes nothing.
func (r *Registry) ApplyPodStatus(ctx context.Context, node string, report PodStatus) (resourceVersion string, err error) {
	obj, err := r.change(ctx, api.Pods, report.Namespace, report.Name, func(current api.Object) (decision, error) {
		pod := current.(*corev1.Pod)
		if pod.UID != report.UID {
			return decision{}, uidMismatch(api.Pods, report.Name, report.UID, pod.UID)
		}
		if err := requireBound(pod, node); err != nil {
			return decision{}, err
		}
		next := *pod
		next.Status = mergePodStatus(&pod.Status, &report.Status)
		if errs := api.ValidateStatusUpdate(api.Pods, &next, pod); len(errs) > 0 {
			return decision{}, apierrors.NewInvalid(api.Pods.GroupVersionKind().GroupKind(), pod.Name, errs)
		}
		return decision{write: &next}, nil
	})
	if err != nil {
		return "", err
	}
	return obj.GetResourceVersion(), nil
}

// mergePodStatus returns the status that a report makes of the stored one. The
// agent owns all of it but two things: what has ended never starts again, and
// the conditions that others set are as they are stored, not as the agent saw them.
func mergePodStatus(stored, report *corev1.PodStatus) corev1.PodStatus {
	merged := *report.DeepCopy()
	if api.IsTerminalPhase(stored.Phase) && merged.Phase != stored.Phase {
		merged.Phase, merged.Reason, merged.Message = stored.Phase, stored.Reason, stored.Message
	}
	merged.Conditions = slices.DeleteFunc(merged.Conditions, func(c corev1.PodCondition) bool { return !api.IsNodeCondition(c.Type) })
	for _, c := range stored.Conditions {
		if api.PodCondition(&merged, c.Type) == nil && !api.IsResizeCondition(c.Type) {
			merged.Conditions = append(merged.Conditions, c)
		}
	}
	if merged.QOSClass == "" {
		merged.QOSClass = stored.QOSClass
	}
	return merged
}
