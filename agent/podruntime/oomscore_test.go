// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podruntime

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/berth-run/berth/api"
)

func TestOOMScoreAdj(t *testing.T) {
	for name, tc := range map[string]struct {
		spec string
		want int64
	}{
		"best effort":   {`containers: [{name: c}]`, 1000},
		"guaranteed":    {`containers: [{name: c, resources: {limits: {cpu: 1, memory: 1Gi}}}]`, -997},
		"burstable":     {`containers: [{name: c, resources: {requests: {memory: 2Gi}}}]`, 750},
		"node critical": {`{priorityClassName: system-node-critical, containers: [{name: c}]}`, -997},
		"part of what the pod requests": {
			`{resources: {requests: {memory: 5Gi}}, containers: [{name: c, resources: {requests: {memory: 1Gi}}}, {name: d}]}`, 625},
		"a sidecar as the container that needs it": {
			`{containers: [{name: d, resources: {requests: {memory: 2Gi}}}], initContainers: [{name: c, restartPolicy: Always}]}`, 750},
		"a sidecar with more": {
			`{containers: [{name: d, resources: {requests: {memory: 1Gi}}}], initContainers: [{name: c, restartPolicy: Always, resources: {requests: {memory: 2Gi}}}]}`, 750},
	} {
		pod := &corev1.Pod{}
		if err := yaml.UnmarshalStrict([]byte(tc.spec), &pod.Spec); err != nil {
			t.Fatal(err)
		}
		if got := oomScoreAdj(pod, api.Container(pod, "c"), 8<<30); got != tc.want {
			t.Errorf("%s: %d, want %d", name, got, tc.want)
		}
	}
}
