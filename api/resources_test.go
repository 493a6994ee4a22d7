// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"
)

// podOf is a defaulted pod of one container c, of a manifest's spec.
func podOf(t *testing.T, spec string) *corev1.Pod {
	t.Helper()
	pod := &corev1.Pod{}
	pod.Name, pod.Namespace = "p", "default"
	if err := yaml.UnmarshalStrict([]byte(spec), &pod.Spec); err != nil {
		t.Fatal(err)
	}
	if len(pod.Spec.Containers) == 0 {
		pod.Spec.Containers = []corev1.Container{{}}
	}
	for i := range pod.Spec.Containers {
		pod.Spec.Containers[i].Name, pod.Spec.Containers[i].Image = fmt.Sprint("c", i), "app:1"
	}
	for i := range pod.Spec.InitContainers {
		pod.Spec.InitContainers[i].Name, pod.Spec.InitContainers[i].Image = fmt.Sprint("i", i), "app:1"
	}
	defaultPod(pod)
	return pod
}

// texts are the errors as users read them.
func texts(errs field.ErrorList) []string {
	var out []string
	for _, e := range errs {
		out = append(out, e.Error())
	}
	return out
}

func TestValidateResources(t *testing.T) {
	for name, tc := range map[string]struct {
		spec string
		want []string
	}{
		"extended": {spec: `containers: [{resources: {limits: {example.com/dongle: 3}}}]`},
		"extended, half of one": {
			spec: `containers: [{resources: {limits: {example.com/dongle: 500m}}}]`,
			want: []string{
				`spec.containers[0].resources.limits[example.com/dongle]: Invalid value: "500m": must be an integer`,
				`spec.containers[0].resources.requests[example.com/dongle]: Invalid value: "500m": must be an integer`,
			},
		},
		"extended, without a limit": {
			spec: `containers: [{resources: {requests: {example.com/dongle: 1}}}]`,
			want: []string{`spec.containers[0].resources.limits: Required value: Limit must be set for non overcommitable resources`},
		},
		"extended, limit above request": {
			spec: `containers: [{resources: {requests: {example.com/dongle: 1}, limits: {example.com/dongle: 2}}}]`,
			want: []string{`spec.containers[0].resources.requests: Invalid value: "1": must be equal to example.com/dongle limit of 2`},
		},
		"huge pages": {spec: `containers: [{resources: {limits: {hugepages-2Mi: 4Mi, memory: 16Mi}}}]`},
		"huge pages that are not whole, alone": {
			spec: `containers: [{resources: {limits: {hugepages-2Mi: 3Mi}}}]`,
			want: []string{
				`spec.containers[0].resources.limits[hugepages-2Mi]: Invalid value: "3Mi": 3Mi is not positive integer multiple of hugepages-2Mi`,
				`spec.containers[0].resources.requests[hugepages-2Mi]: Invalid value: "3Mi": 3Mi is not positive integer multiple of hugepages-2Mi`,
				`spec.containers[0].resources: Forbidden: HugePages require cpu or memory`,
			},
		},
		"unknown": {
			spec: `containers: [{resources: {requests: {cpus: 1}}}]`,
			want: []string{`spec.containers[0].resources.requests[cpus]: Invalid value: "cpus": must be a standard resource for containers`},
		},
		"of Kubernetes' own domain": {
			spec: `containers: [{resources: {requests: {kubernetes.io/thing: 1}}}]`,
			want: []string{`spec.containers[0].resources.requests[kubernetes.io/thing]: Invalid value: "kubernetes.io/thing": must be a standard resource for containers`},
		},
		"ephemeral storage is placed": {spec: `containers: [{resources: {requests: {ephemeral-storage: 1Gi}}}]`},
		"pod level": {
			spec: `{resources: {requests: {cpu: 1, memory: 64Mi}, limits: {cpu: 2}}, containers: [{resources: {requests: {cpu: 500m}, limits: {cpu: 2}}}]}`,
		},
		"pod level, less than its containers": {
			spec: `{resources: {requests: {cpu: 1}, limits: {cpu: 2}}, containers: [{resources: {limits: {cpu: 3}}}]}`,
			want: []string{
				`spec.resources.requests[cpu]: Invalid value: "1": must be greater than or equal to aggregate container requests of 3`,
				`spec.resources.containers[0][cpu].limits: Invalid value: "3": must be less than or equal to pod limits of 2`,
			},
		},
		"pod level, of what is not shared": {
			spec: `resources: {requests: {ephemeral-storage: 1Gi}}`,
			want: []string{`spec.resources.requests[ephemeral-storage]: Unsupported value: "ephemeral-storage": supported values: "cpu", "hugepages-", "memory"`},
		},
		"resize policies": {
			spec: `containers: [{resizePolicy: [{resourceName: cpu, restartPolicy: NotRequired}, {resourceName: memory, restartPolicy: RestartContainer}]}]`,
		},
		"resize policies that are none": {
			spec: `{restartPolicy: Never, containers: [{resizePolicy: [{resourceName: cpu, restartPolicy: RestartContainer}, {resourceName: cpu, restartPolicy: Sometimes}, {resourceName: disk}]}]}`,
			want: []string{
				"spec.containers[0].resizePolicy: Invalid value: \"RestartContainer\": must be 'NotRequired' when `restartPolicy` is 'Never'",
				`spec.containers[0].resizePolicy[1]: Duplicate value: "cpu"`,
				`spec.containers[0].resizePolicy: Unsupported value: "Sometimes": supported values: "NotRequired", "RestartContainer"`,
				`spec.containers[0].resizePolicy: Unsupported value: "disk": supported values: "cpu", "memory"`,
				`spec.containers[0].resizePolicy: Required value`,
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, texts(ValidateCreate(Pods, podOf(t, tc.spec)))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestDefaultResources(t *testing.T) {
	for name, tc := range map[string]struct {
		spec, container, pod string
		class                corev1.PodQOSClass
	}{
		"limits without requests": {
			`containers: [{resources: {limits: {cpu: 1, memory: 8Mi, example.com/dongle: 1}, requests: {memory: 4Mi}}}]`,
			`{limits: {cpu: 1, memory: 8Mi, example.com/dongle: 1}, requests: {cpu: 1, memory: 4Mi, example.com/dongle: 1}}`, "", corev1.PodQOSBurstable,
		},
		"requests without limits": {
			`containers: [{resources: {requests: {cpu: 1, memory: 8Mi}}}]`,
			`{requests: {cpu: 1, memory: 8Mi}}`, "", corev1.PodQOSBurstable,
		},
		"pod level: limits alone": {
			`resources: {limits: {cpu: 1, memory: 8Mi}}`,
			`{}`, `{limits: {cpu: 1, memory: 8Mi}, requests: {cpu: 1, memory: 8Mi}}`, corev1.PodQOSGuaranteed,
		},
		"pod level: containers request": {
			`{resources: {limits: {cpu: 1}}, containers: [{resources: {requests: {cpu: 100m, memory: 4Mi}}}]}`,
			`{requests: {cpu: 100m, memory: 4Mi}}`, `{limits: {cpu: 1}, requests: {cpu: 100m, memory: 4Mi}}`, corev1.PodQOSBurstable,
		},
		"pod level: huge pages of the containers": {
			`{resources: {requests: {cpu: 1}}, containers: [{resources: {limits: {hugepages-2Mi: 2Mi}, requests: {cpu: 1}}}]}`,
			`{limits: {hugepages-2Mi: 2Mi}, requests: {cpu: 1, hugepages-2Mi: 2Mi}}`,
			`{limits: {hugepages-2Mi: 2Mi}, requests: {cpu: 1, hugepages-2Mi: 2Mi}}`, corev1.PodQOSBurstable,
		},
		"nothing": {`{}`, `{}`, "", corev1.PodQOSBestEffort},
	} {
		t.Run(name, func(t *testing.T) {
			pod := podOf(t, tc.spec)
			if diff := cmp.Diff(resourcesOf(t, tc.container), &pod.Spec.Containers[0].Resources); diff != "" {
				t.Errorf("container: %s", diff)
			}
			if diff := cmp.Diff(resourcesOf(t, tc.pod), pod.Spec.Resources); diff != "" {
				t.Errorf("pod: %s", diff)
			}
			if pod.Status.QOSClass != tc.class {
				t.Errorf("class %s, want %s", pod.Status.QOSClass, tc.class)
			}
		})
	}
}

func resourcesOf(t *testing.T, text string) *corev1.ResourceRequirements {
	t.Helper()
	if text == "" {
		return nil
	}
	r := &corev1.ResourceRequirements{}
	if err := yaml.UnmarshalStrict([]byte(text), r); err != nil {
		t.Fatal(err)
	}
	return r
}
