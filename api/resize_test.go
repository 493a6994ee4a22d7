// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
)

func TestValidateResize(t *testing.T) {
	const burstable = `containers: [{resources: {requests: {cpu: 100m, memory: 32Mi}, limits: {memory: 64Mi}}}]`
	for name, tc := range map[string]struct {
		old, asked string
		want       []string
	}{
		"more": {old: burstable,
			asked: `containers: [{resources: {requests: {cpu: 200m, memory: 64Mi}, limits: {memory: 128Mi}}}]`},
		"less, and a limit": {old: burstable,
			asked: `containers: [{resources: {requests: {cpu: 50m, memory: 16Mi}, limits: {cpu: 1, memory: 32Mi}}}]`},
		"the class": {old: burstable,
			asked: `containers: [{resources: {requests: {cpu: 100m, memory: 64Mi}, limits: {cpu: 100m, memory: 64Mi}}}]`,
			want:  []string{`spec: Invalid value: "Burstable": Pod QOS Class may not change as a result of resizing`}},
		"without a limit": {old: burstable,
			asked: `containers: [{resources: {requests: {cpu: 100m, memory: 32Mi}}}]`,
			want:  []string{`spec.containers[0].resources.limits: Forbidden: resource limits cannot be removed`}},
		"without a request": {old: burstable,
			asked: `containers: [{resources: {requests: {memory: 32Mi}, limits: {memory: 64Mi}}}]`,
			want:  []string{`spec.containers[0].resources.requests: Forbidden: resource requests cannot be removed`}},
		"other resources": {old: burstable,
			asked: `containers: [{resources: {requests: {cpu: 100m, memory: 32Mi, ephemeral-storage: 1Gi}, limits: {memory: 64Mi}}}]`,
			want:  []string{`spec.containers[0].resources: Forbidden: only cpu and memory resources are mutable`}},
		"request above limit": {old: burstable,
			asked: `containers: [{resources: {requests: {cpu: 100m, memory: 65Mi}, limits: {memory: 64Mi}}}]`,
			want:  []string{`spec.containers[0].resources.requests: Invalid value: "65Mi": must be less than or equal to memory limit of 64Mi`}},
		"of an init container": {old: `initContainers: [{resources: {requests: {cpu: 1}, limits: {cpu: 2}}}]`,
			asked: `initContainers: [{resources: {requests: {cpu: 2}, limits: {cpu: 2}}}]`,
			want:  []string{`spec.initContainers[0].resources: Forbidden: resources for non-sidecar init containers are immutable`}},
		"of a sidecar": {old: `initContainers: [{restartPolicy: Always, resources: {limits: {cpu: 1}}}]`,
			asked: `initContainers: [{restartPolicy: Always, resources: {requests: {cpu: 1}}}]`,
			want:  []string{`spec.initContainers[0].resources.limits: Forbidden: resource limits cannot be removed`}},
		"pod level": {old: `resources: {requests: {cpu: 1}, limits: {cpu: 2}}`, asked: `resources: {requests: {cpu: 2}, limits: {cpu: 3}}`},
		"pod level, taken away": {old: `{resources: {requests: {cpu: 1}}, containers: [{resources: {requests: {cpu: 1}}}]}`,
			asked: `containers: [{resources: {requests: {cpu: 1}}}]`,
			want:  []string{`spec.resources: Forbidden: pod-level resources cannot be removed`}},
		"pod level, a limit less": {old: `resources: {requests: {cpu: 1}, limits: {cpu: 2}}`, asked: `resources: {requests: {cpu: 1}}`,
			want: []string{`spec.resources.limits: Forbidden: pod-level resource limits cannot be removed`}},
	} {
		t.Run(name, func(t *testing.T) {
			old := podOf(t, tc.old)
			pod := Resized(podOf(t, tc.asked), old)
			if diff := cmp.Diff(tc.want, texts(ValidateResize(Pods, pod, old))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A resize changes nothing but resources and resize policies, whatever it says.
func TestResizedDropsTheRest(t *testing.T) {
	old := podOf(t, `containers: [{resources: {requests: {cpu: 1}}}, {}]`)
	asked := podOf(t, `containers: [{}, {resources: {requests: {cpu: 2}}, resizePolicy: [{resourceName: cpu, restartPolicy: NotRequired}]}]`)
	asked.Labels = map[string]string{"a": "b"}
	asked.Spec.Containers[0].Image = "other"
	asked.Spec.Containers[1].Name = "other"
	asked.Spec.Containers = append(asked.Spec.Containers, *old.Spec.Containers[1].DeepCopy())
	asked.Spec.Containers[2].Resources = *resourcesOf(t, `{requests: {cpu: 3}}`)

	want := old.DeepCopy()
	want.Spec.Containers[0].Resources = corev1.ResourceRequirements{}
	want.Spec.Containers[1].Resources = *resourcesOf(t, `{requests: {cpu: 3}}`)
	if diff := cmp.Diff(want, Resized(asked, old)); diff != "" {
		t.Error(diff)
	}
}
