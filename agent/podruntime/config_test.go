// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podruntime

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/testing/protocmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/berth-run/berth/agent/podtypes"
)

func TestSandboxConfig(t *testing.T) {
	h := newHarness(t)
	h.cfg.ResolvConf = filepath.Join(h.dir, "resolv.conf")
	write(t, h.cfg.ResolvConf, "# a comment\nnameserver 192.0.2.53\nsearch a.test b.test\noptions ndots:2\n")
	pod := testPod("web")
	pod.Labels = map[string]string{"app": "web", nodeLabel: "another"}
	pod.Annotations = map[string]string{"note": "x"}
	pod.Spec.Containers[0].Ports = []corev1.ContainerPort{
		{ContainerPort: 80}, {ContainerPort: 53, HostPort: 5353, Protocol: corev1.ProtocolUDP, HostIP: "127.0.0.1"},
	}
	got, _, err := h.sandboxConfig(pod, 3)
	if err != nil {
		t.Fatal(err)
	}
	want := &runtimeapi.PodSandboxConfig{
		Metadata:     &runtimeapi.PodSandboxMetadata{Name: "web", Namespace: "default", Uid: "uid-1", Attempt: 3},
		Hostname:     "web",
		LogDirectory: filepath.Join(h.dir, "logs", "default_web_uid-1"),
		DnsConfig:    &runtimeapi.DNSConfig{Servers: []string{"192.0.2.53"}, Searches: []string{"a.test", "b.test"}, Options: []string{"ndots:2"}},
		PortMappings: []*runtimeapi.PortMapping{{Protocol: runtimeapi.Protocol_UDP, ContainerPort: 53, HostPort: 5353, HostIp: "127.0.0.1"}},
		Labels: map[string]string{
			"app": "web", "berth.run/node": "0badcafe", "io.kubernetes.pod.name": "web",
			"io.kubernetes.pod.namespace": "default", "io.kubernetes.pod.uid": "uid-1",
		},
		Annotations: map[string]string{"note": "x"},
		Linux: &runtimeapi.LinuxPodSandboxConfig{
			CgroupParent: "/berth-0badcafe/poduid-1",
			SecurityContext: &runtimeapi.LinuxSandboxSecurityContext{
				NamespaceOptions: &runtimeapi.NamespaceOption{Pid: runtimeapi.NamespaceMode_CONTAINER},
				Seccomp:          &runtimeapi.SecurityProfile{ProfileType: runtimeapi.SecurityProfile_Unconfined},
			},
		},
	}
	if diff := cmp.Diff(want, got, protocmp.Transform()); diff != "" {
		t.Errorf("config (-want +got):\n%s", diff)
	}
	if pod.Labels[nodeLabel] != "another" {
		t.Error("the pod's own labels were changed")
	}
}

func TestSandboxConfigOfTheHostsNetwork(t *testing.T) {
	h := newHarness(t)
	pod := testPod("web")
	pod.Spec.HostNetwork = true
	pod.Spec.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: 80, HostPort: 80}}
	got, _, err := h.sandboxConfig(pod, 0)
	if err != nil {
		t.Fatal(err)
	}
	if got.GetHostname() != "" || len(got.GetPortMappings()) > 0 {
		t.Errorf("hostname %q, port mappings %v", got.GetHostname(), got.GetPortMappings())
	}
	if got := got.GetLinux().GetSecurityContext().GetNamespaceOptions().GetNetwork(); got != runtimeapi.NamespaceMode_NODE {
		t.Errorf("network namespace: %s", got)
	}
}

func TestContainerConfig(t *testing.T) {
	h := newHarness(t)
	h.volumes = map[string]podtypes.Volume{"data": {HostPath: "/host/data"}}
	h.objects["settings"] = &corev1.ConfigMap{Data: map[string]string{"mode": "fast"}}
	h.objects["keys"] = &corev1.Secret{Data: map[string][]byte{"key": []byte("s3cret")}}
	optional := true
	pod := testPod("web")
	pod.Labels = map[string]string{"app.test/tier": "front"}
	pod.Spec.ServiceAccountName = "default"
	c := &pod.Spec.Containers[0]
	c.Command, c.Args, c.WorkingDir = []string{"/serve", "$(MODE)"}, []string{"--at=$(IP)", "$$(MODE)", "$(NONE)"}, "/srv"
	c.VolumeMounts = []corev1.VolumeMount{{Name: "data", MountPath: "data/", ReadOnly: true}}
	field := func(path string) *corev1.EnvVarSource {
		return &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: path}}
	}
	configMap := func(name, key string) *corev1.EnvVarSource {
		return &corev1.EnvVarSource{ConfigMapKeyRef: &corev1.ConfigMapKeySelector{
			LocalObjectReference: corev1.LocalObjectReference{Name: name}, Key: key, Optional: &optional}}
	}
	c.Env = []corev1.EnvVar{
		{Name: "MODE", ValueFrom: configMap("settings", "mode")},
		{Name: "LEFT_OUT", ValueFrom: configMap("settings", "absent")},
		{Name: "LEFT_OUT_TOO", ValueFrom: configMap("absent", "k")},
		{Name: "KEY", ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{
			LocalObjectReference: corev1.LocalObjectReference{Name: "keys"}, Key: "key"}}},
		{Name: "IP", ValueFrom: field("status.podIP")},
		{Name: "TIER", ValueFrom: field("metadata.labels['app.test/tier']")},
		{Name: "NODE", ValueFrom: field("spec.nodeName")},
		{Name: "HOST", ValueFrom: field("status.hostIP")},
		{Name: "ACCOUNT", ValueFrom: field("spec.serviceAccountName")},
		{Name: "URL", Value: "http://$(IP)/$(MODE)"},
		{Name: "MODE", Value: "$(MODE)er"},
	}
	got, err := h.containerConfig(pod, c, 2, []string{"10.0.0.7"})
	if err != nil {
		t.Fatal(err)
	}
	env := map[string]string{}
	for _, e := range got.GetEnvs() {
		env[e.GetKey()] = string(e.GetValue())
	}
	if diff := cmp.Diff(map[string]string{
		"MODE": "faster", "KEY": "s3cret", "IP": "10.0.0.7", "TIER": "front", "NODE": "node-1",
		"HOST": "192.0.2.1", "ACCOUNT": "default", "URL": "http://10.0.0.7/fast",
	}, env); diff != "" {
		t.Errorf("env (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"/serve", "faster", "--at=10.0.0.7", "$(MODE)", "$(NONE)"}, append(got.GetCommand(), got.GetArgs()...)); diff != "" {
		t.Errorf("command and args (-want +got):\n%s", diff)
	}
	dir := filepath.Join(h.dir, "pods", "uid-1")
	if diff := cmp.Diff([]*runtimeapi.Mount{
		{ContainerPath: "/data", HostPath: "/host/data", Readonly: true},
		{ContainerPath: "/etc/hosts", HostPath: filepath.Join(dir, "etc-hosts")},
		{ContainerPath: "/dev/termination-log", HostPath: filepath.Join(dir, "containers", "web", "2")},
	}, got.GetMounts(), protocmp.Transform()); diff != "" {
		t.Errorf("mounts (-want +got):\n%s", diff)
	}
	if got.GetLogPath() != "web/2.log" || got.GetWorkingDir() != "/srv" || got.GetMetadata().GetAttempt() != 2 {
		t.Errorf("config: %v", got)
	}
	hosts, err := os.ReadFile(filepath.Join(dir, "etc-hosts"))
	if err != nil || !strings.Contains(string(hosts), "10.0.0.7\tweb\n") {
		t.Errorf("hosts file: %v\n%s", err, hosts)
	}
	if info, err := os.Stat(filepath.Join(dir, "containers", "web", "2")); err != nil || info.Mode().Perm() != 0o666 {
		t.Errorf("termination message file: %v %v", info, err)
	}
}

func TestContainerConfigLeavesTheUsersFiles(t *testing.T) {
	h := newHarness(t)
	h.volumes = map[string]podtypes.Volume{"v": {HostPath: "/host"}}
	pod := testPod("web")
	pod.Spec.Containers[0].VolumeMounts = []corev1.VolumeMount{
		{Name: "v", MountPath: "/etc/hosts"}, {Name: "v", MountPath: "/dev/termination-log"},
	}
	got, err := h.containerConfig(pod, &pod.Spec.Containers[0], 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.GetMounts()) != 2 {
		t.Errorf("mounts: %v", got.GetMounts())
	}
}

func TestContainerConfigNeedsItsVolumes(t *testing.T) {
	h := newHarness(t)
	pod := testPod("web")
	pod.Spec.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "data", MountPath: "/data"}}
	if _, err := h.containerConfig(pod, &pod.Spec.Containers[0], 0, nil); err == nil || !strings.Contains(err.Error(), `"data"`) {
		t.Errorf("error: %v", err)
	}
}

func TestExpand(t *testing.T) {
	vars := map[string]string{"A": "1", "B": "$(A)"}
	for in, want := range map[string]string{
		"":            "",
		"plain":       "plain",
		"$(A)":        "1",
		"x$(A)y$(B)z": "x1y$(A)z",
		"$$(A)":       "$(A)",
		"$$$(A)":      "$1",
		"$(C)":        "$(C)",
		"$(A":         "$(A",
		"$":           "$",
		"$A $( ) $$":  "$A $( ) $",
	} {
		if got, ok := expand(in, vars, len(want)); !ok || got != want {
			t.Errorf("%q is %q, want %q", in, got, want)
		}
	}
}

func TestContainerResources(t *testing.T) {
	list := func(cpu, memory string) corev1.ResourceList {
		l := corev1.ResourceList{}
		if cpu != "" {
			l[corev1.ResourceCPU] = resource.MustParse(cpu)
		}
		if memory != "" {
			l[corev1.ResourceMemory] = resource.MustParse(memory)
		}
		return l
	}
	for name, tc := range map[string]struct {
		requests, limits corev1.ResourceList
		want             *runtimeapi.LinuxContainerResources
	}{
		"best effort": {want: &runtimeapi.LinuxContainerResources{CpuShares: 2, CpuPeriod: 100000, OomScoreAdj: 1000}},
		"guaranteed": {
			requests: list("500m", "1Gi"), limits: list("500m", "1Gi"),
			want: &runtimeapi.LinuxContainerResources{CpuShares: 512, CpuQuota: 50000, CpuPeriod: 100000, MemoryLimitInBytes: 1 << 30, OomScoreAdj: -997},
		},
		"a quarter of the memory": {
			requests: list("2", "2Gi"),
			want:     &runtimeapi.LinuxContainerResources{CpuShares: 2048, CpuPeriod: 100000, OomScoreAdj: 750},
		},
		"nearly nothing of it": {
			requests: list("", "1Ki"),
			want:     &runtimeapi.LinuxContainerResources{CpuShares: 2, CpuPeriod: 100000, OomScoreAdj: 999},
		},
		"more than there is": {
			requests: list("", "16Gi"),
			want:     &runtimeapi.LinuxContainerResources{CpuShares: 2, CpuPeriod: 100000, OomScoreAdj: 3},
		},
		"a limit alone": {
			limits: list("1m", ""),
			want:   &runtimeapi.LinuxContainerResources{CpuShares: 2, CpuQuota: 1000, CpuPeriod: 100000, OomScoreAdj: 999},
		},
	} {
		pod := testPod("web")
		pod.Spec.Containers[0].Resources = corev1.ResourceRequirements{Requests: tc.requests, Limits: tc.limits}
		got := containerResources(pod, &pod.Spec.Containers[0], 8<<30)
		ofMachine := protocmp.IgnoreFields(&runtimeapi.LinuxContainerResources{}, "hugepage_limits")
		if diff := cmp.Diff(tc.want, got, protocmp.Transform(), ofMachine); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func write(t *testing.T, file, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}
