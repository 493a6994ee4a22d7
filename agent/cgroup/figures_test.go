// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package cgroup

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/opencontainers/cgroups"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"
)

// container has requests and limits as "cpu", "memory"; an empty text is none.
func container(cpuRequest, cpuLimit, memoryRequest, memoryLimit string) corev1.Container {
	c := corev1.Container{Resources: corev1.ResourceRequirements{
		Requests: corev1.ResourceList{}, Limits: corev1.ResourceList{},
	}}
	for _, set := range []struct {
		list  corev1.ResourceList
		name  corev1.ResourceName
		value string
	}{
		{c.Resources.Requests, corev1.ResourceCPU, cpuRequest},
		{c.Resources.Limits, corev1.ResourceCPU, cpuLimit},
		{c.Resources.Requests, corev1.ResourceMemory, memoryRequest},
		{c.Resources.Limits, corev1.ResourceMemory, memoryLimit},
	} {
		if set.value != "" {
			set.list[set.name] = resource.MustParse(set.value)
		}
	}
	return c
}

func pod(uid string, containers ...corev1.Container) *corev1.Pod {
	p := &corev1.Pod{Spec: corev1.PodSpec{Containers: containers}}
	p.UID = types.UID(uid)
	return p
}

func withInit(p *corev1.Pod, containers ...corev1.Container) *corev1.Pod {
	p.Spec.InitContainers = containers
	return p
}

func TestPodResources(t *testing.T) {
	const mebi = 1 << 20
	for name, test := range map[string]struct {
		pod    *corev1.Pod
		shares uint64
		quota  int64
		memory int64
	}{
		"nothing set":                      {pod("a", container("", "", "", "")), 2, -1, -1},
		"guaranteed":                       {pod("a", container("500m", "500m", "64Mi", "64Mi")), 512, 50_000, 64 * mebi},
		"requests only":                    {pod("a", container("250m", "", "64Mi", "")), 256, -1, -1},
		"sum of containers":                {pod("a", container("250m", "1", "1Mi", "2Mi"), container("250m", "1", "1Mi", "2Mi")), 512, 200_000, 4 * mebi},
		"one container without limits":     {pod("a", container("250m", "1", "1Mi", "2Mi"), container("250m", "", "1Mi", "")), 512, -1, -1},
		"init container asks for more":     {withInit(pod("a", container("100m", "1", "", "1Mi")), container("1", "2", "", "8Mi")), 1024, 200_000, 8 * mebi},
		"init container without a limit":   {withInit(pod("a", container("100m", "1", "", "1Mi")), container("50m", "", "", "")), 102, -1, -1},
		"less than the kernel's minimum":   {pod("a", container("1m", "1m", "1Mi", "1Mi")), 2, 1_000, mebi},
		"more than the kernel's maximum":   {pod("a", container("1k", "1k", "1Mi", "1Mi")), 262144, 100_000_000, mebi},
		"a limit of zero is not one":       {pod("a", container("100m", "0", "", "0")), 102, -1, -1},
		"no containers at all are not all": {pod("a"), 2, -1, -1},
	} {
		t.Run(name, func(t *testing.T) {
			want := cgroups.Resources{
				CpuShares: test.shares, CpuWeight: cgroups.ConvertCPUSharesToCgroupV2Value(test.shares),
				CpuQuota: test.quota, CpuPeriod: 100_000, Memory: test.memory, SkipDevices: true,
			}
			if diff := cmp.Diff(want, podResources(test.pod)); diff != "" {
				t.Errorf("figures (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPodLevelResourcesBoundThePod(t *testing.T) {
	p := pod("a", container("", "", "", ""))
	p.Spec.Resources = &corev1.ResourceRequirements{
		Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")},
		Limits:   corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("2")},
	}
	r := podResources(p)
	if r.CpuShares != 1024 || r.CpuQuota != 200_000 || r.Memory != -1 {
		t.Errorf("figures of a pod with resources of its own: %+v", r)
	}
}

func TestBurstableResources(t *testing.T) {
	burstable := func(cpu string) *corev1.Pod { return pod("b", container(cpu, "", "", "")) }
	guaranteed := pod("g", container("1", "1", "1Mi", "1Mi"))
	bestEffort := pod("e", container("", "", "", ""))
	for name, test := range map[string]struct {
		pods   []*corev1.Pod
		shares uint64
		weight uint64
	}{
		"no pods":           {nil, 2, 1},
		"no burstable pods": {[]*corev1.Pod{guaranteed, bestEffort}, 2, 1},
		"requests add up":   {[]*corev1.Pod{burstable("1"), guaranteed, burstable("500m")}, 1536, 138},
		"memory only":       {[]*corev1.Pod{pod("m", container("", "", "1Mi", ""))}, 2, 1},
	} {
		t.Run(name, func(t *testing.T) {
			want := cgroups.Resources{CpuShares: test.shares, CpuWeight: test.weight, SkipDevices: true}
			if diff := cmp.Diff(want, burstableResources(test.pods)); diff != "" {
				t.Errorf("figures (-want +got):\n%s", diff)
			}
		})
	}
}
