// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/berth-run/berth/api"
)

// applyRuntimeClass gives a new pod what follows from its RuntimeClass: what it takes
// beside its containers, and where it may run.
func (r *Registry) applyRuntimeClass(ctx context.Context, pod *corev1.Pod) error {
	class := &nodev1.RuntimeClass{}
	if name := pod.Spec.RuntimeClassName; name != nil && *name != "" {
		obj, err := r.Get(ctx, api.RuntimeClasses, "", *name)
		switch {
		case apierrors.IsNotFound(err):
			return rejected(pod, fmt.Sprintf("RuntimeClass %q not found", *name))
		case err != nil:
			return err
		}
		class = obj.(*nodev1.RuntimeClass)
	}
	if conflict := cmp.Or(setOverhead(&pod.Spec, class), setScheduling(&pod.Spec, class.Scheduling)); conflict != "" {
		return rejected(pod, conflict)
	}
	return nil
}

func rejected(pod *corev1.Pod, why string) error {
	return apierrors.NewForbidden(api.Pods.GroupResource(), pod.Name, errors.New("pod rejected: "+why))
}

// setOverhead returns what the pod says against its class.
func setOverhead(spec *corev1.PodSpec, class *nodev1.RuntimeClass) (conflict string) {
	switch {
	case class.Overhead == nil && len(spec.Overhead) > 0:
		return "Pod Overhead set without corresponding RuntimeClass defined Overhead"
	case class.Overhead == nil:
	case spec.Overhead == nil:
		spec.Overhead = maps.Clone(class.Overhead.PodFixed)
	case !apiequality.Semantic.DeepEqual(spec.Overhead, class.Overhead.PodFixed):
		return "Pod's Overhead doesn't match RuntimeClass's defined Overhead"
	}
	return ""
}

// setScheduling adds the class's node selector and tolerations to the pod's.
func setScheduling(spec *corev1.PodSpec, s *nodev1.Scheduling) (conflict string) {
	if s == nil {
		return ""
	}
	selector := maps.Clone(spec.NodeSelector)
	for _, key := range slices.Sorted(maps.Keys(s.NodeSelector)) {
		value := s.NodeSelector[key]
		if own, set := selector[key]; set && own != value {
			return fmt.Sprintf("conflict: runtimeClass.scheduling.nodeSelector[%s] = %s; pod.spec.nodeSelector[%s] = %s", key, value, key, own)
		}
		if selector == nil {
			selector = map[string]string{}
		}
		selector[key] = value
	}
	spec.NodeSelector = selector
	for _, t := range s.Tolerations {
		if !slices.ContainsFunc(spec.Tolerations, func(own corev1.Toleration) bool { return apiequality.Semantic.DeepEqual(own, t) }) {
			spec.Tolerations = append(spec.Tolerations, t)
		}
	}
	return ""
}
