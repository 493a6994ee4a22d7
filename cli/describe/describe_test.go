// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package describe

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/berth-run/berth/api"
)

var now = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

func ago(d time.Duration) metav1.Time { return metav1.NewTime(now.Add(-d)) }

func amounts(cpu, memory string) corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory)}
}

func onNode(name string, requests, limits corev1.ResourceList) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default", CreationTimestamp: ago(time.Hour)},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{
			Name: "c", Resources: corev1.ResourceRequirements{Requests: requests, Limits: limits}}}},
	}
}

var fullPod = &corev1.Pod{
	ObjectMeta: metav1.ObjectMeta{
		Name: "web", Namespace: "default", Labels: map[string]string{"app": "web", "a": "b"},
		Annotations: map[string]string{"note": "two\nlines", corev1.LastAppliedConfigAnnotation: "{}"},
	},
	Spec: corev1.PodSpec{
		ServiceAccountName: "default", NodeName: "n1", RestartPolicy: "Always", NodeSelector: map[string]string{"disk": "ssd"},
		Tolerations: []corev1.Toleration{
			{Key: "k", Value: "v", Effect: "NoSchedule"},
			{Key: "node.kubernetes.io/not-ready", Operator: "Exists", Effect: "NoExecute", TolerationSeconds: ptr.To(int64(300))},
		},
		InitContainers: []corev1.Container{{Name: "init", Image: "busybox", Command: []string{"sh", "-c"}, Args: []string{"true"}}},
		Containers: []corev1.Container{{
			Name: "web", Image: "nginx:1",
			Ports: []corev1.ContainerPort{{ContainerPort: 80, Protocol: "TCP", HostPort: 8080}, {ContainerPort: 53, Protocol: "UDP", HostIP: "192.0.2.9", HostPort: 5353}},
			Env: []corev1.EnvVar{
				{Name: "PLAIN", Value: "a\tb\x1b[31m\nc"},
				{Name: "SECRET", ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{
					LocalObjectReference: corev1.LocalObjectReference{Name: "s"}, Key: "k", Optional: ptr.To(true)}}},
				{Name: "CONFIG", ValueFrom: &corev1.EnvVarSource{ConfigMapKeyRef: &corev1.ConfigMapKeySelector{
					LocalObjectReference: corev1.LocalObjectReference{Name: "m"}, Key: "k"}}},
				{Name: "IP", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "status.podIP"}}},
			},
			Resources:    corev1.ResourceRequirements{Requests: amounts("100m", "64Mi"), Limits: corev1.ResourceList{"memory": resource.MustParse("128Mi")}},
			VolumeMounts: []corev1.VolumeMount{{Name: "data", MountPath: "/data"}, {Name: "conf", MountPath: "/etc/web", ReadOnly: true}},
		}},
		Volumes: []corev1.Volume{
			{Name: "data", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{Medium: "Memory"}}},
			{Name: "conf", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "m"}}}},
			{Name: "keys", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "s"}}},
			{Name: "host", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/srv", Type: ptr.To(corev1.HostPathDirectory)}}},
		},
	},
	Status: corev1.PodStatus{
		Phase: "Running", PodIP: "10.0.0.2", HostIP: "192.0.2.1", StartTime: ptr.To(ago(time.Hour)),
		Conditions: []corev1.PodCondition{
			{Type: "PodScheduled", Status: "True", LastTransitionTime: ago(time.Hour)},
			{Type: "Ready", Status: "False", Reason: "ContainersNotReady", Message: "containers with unready status: [web]", LastTransitionTime: ago(time.Minute)},
		},
		InitContainerStatuses: []corev1.ContainerStatus{{Name: "init", State: corev1.ContainerState{
			Terminated: &corev1.ContainerStateTerminated{Reason: "Completed", StartedAt: ago(59 * time.Minute), FinishedAt: ago(58 * time.Minute)}}, Ready: true}},
		ContainerStatuses: []corev1.ContainerStatus{{
			Name: "web", ContainerID: "containerd://c1", ImageID: "nginx@sha256:1", RestartCount: 3,
			State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff", Message: "back-off 10s"}},
			LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
				Reason: "Error", Message: "no such file", ExitCode: 1, StartedAt: ago(2 * time.Minute), FinishedAt: ago(time.Minute)}},
		}},
	},
}

func TestPod(t *testing.T) {
	events := []*corev1.Event{
		{Type: "Warning", Reason: "BackOff", Message: "Back-off\n", Count: 4, FirstTimestamp: ago(10 * time.Minute), LastTimestamp: ago(time.Minute),
			InvolvedObject: corev1.ObjectReference{FieldPath: "spec.containers{web}"}, Source: corev1.EventSource{Component: "berth-agent"}},
		{Type: "Normal", Reason: "Scheduled", Message: "Assigned", LastTimestamp: ago(time.Hour), Source: corev1.EventSource{Component: "default-scheduler"}},
	}
	want := `Name:             web
Namespace:        default
Service Account:  default
Node:             n1/192.0.2.1
Start Time:       Fri, 01 May 2026 11:00:00 +0000 (60m ago)
Labels:           a=b
                  app=web
Annotations:      note: two lines
Status:           Running
IP:               10.0.0.2
Init Containers:
  init:
    Image:          busybox
    Ports:          <none>
    Command:        sh
                    -c
    Args:           true
    State:          Terminated
      Reason:       Completed
      Exit Code:    0
      Started:      Fri, 01 May 2026 11:01:00 +0000 (59m ago)
      Finished:     Fri, 01 May 2026 11:02:00 +0000 (58m ago)
    Ready:          True
    Restart Count:  0
    Environment:    <none>
    Mounts:         <none>
Containers:
  web:
    Container ID:   containerd://c1
    Image:          nginx:1
    Image ID:       nginx@sha256:1
    Ports:          80/TCP on 8080 of the node, 53/UDP on 192.0.2.9:5353 of the node
    State:          Waiting
      Reason:       CrashLoopBackOff
      Message:      back-off 10s
    Last State:     Terminated
      Reason:       Error
      Message:      no such file
      Exit Code:    1
      Started:      Fri, 01 May 2026 11:58:00 +0000 (2m ago)
      Finished:     Fri, 01 May 2026 11:59:00 +0000 (60s ago)
    Ready:          False
    Restart Count:  3
    Limits:
      memory:  128Mi
    Requests:
      cpu:     100m
      memory:  64Mi
    Environment:
      PLAIN:   a    b^[[31m
               c
      SECRET:  <set to the key 'k' in secret 's'> (optional)
      CONFIG:  <set to the key 'k' of config map 'm'>
      IP:      10.0.0.2 (status.podIP)
    Mounts:
      /data from data (rw)
      /etc/web from conf (ro)
Conditions:
  Type          Status  Since  Reason
  PodScheduled  True    60m    
  Ready         False   60s    ContainersNotReady: containers with unready status: [web]
Volumes:
  data:
    Type:    EmptyDir (a temporary directory that shares a pod's lifetime)
    Medium:  Memory
  conf:
    Type:      ConfigMap (a volume populated by a ConfigMap)
    Name:      m
    Optional:  false
  keys:
    Type:        Secret (a volume populated by a Secret)
    SecretName:  s
    Optional:    false
  host:
    Type:          HostPath (a directory or file of the node)
    Path:          /srv
    HostPathType:  Directory
QoS Class:       Burstable
Restart Policy:  Always
Node-Selectors:  disk=ssd
Tolerations:     k=v:NoSchedule
                 node.kubernetes.io/not-ready:NoExecute op=Exists for 300s
Events:
  Type     Reason     Age                From               Message
  Normal   Scheduled  60m                default-scheduler  Assigned
  Warning  BackOff    60s (x4 over 10m)  berth-agent        spec.containers{web}: Back-off
`
	compare(t, want, Object(fullPod, Related{Events: events}, now))
}

func compare(t *testing.T, want, got string) {
	t.Helper()
	// Spaces before the end of a line are not seen.
	trim := func(text string) []string {
		var lines []string
		for line := range strings.Lines(text) {
			lines = append(lines, strings.TrimRight(line, " \n"))
		}
		return lines
	}
	if diff := cmp.Diff(trim(want), trim(got)); diff != "" {
		t.Errorf("%s\n%s", diff, got)
	}
}

func TestPodOnItsWayOut(t *testing.T) {
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "p", DeletionTimestamp: ptr.To(ago(-10 * time.Second)), DeletionGracePeriodSeconds: ptr.To(int64(30))},
		Spec:       corev1.PodSpec{ActiveDeadlineSeconds: ptr.To(int64(60))},
		Status:     corev1.PodStatus{Phase: "Running", Reason: "DeadlineExceeded", Message: "too long"},
	}
	want := `Name:                      p
Node:                      <none>
Labels:                    <none>
Annotations:               <none>
Status:                    Terminating (since 20s)
Termination Grace Period:  30s
Reason:                    DeadlineExceeded
Message:                   too long
Active Deadline:           1m0s
IP:                        <none>
Conditions:                <none>
Volumes:                   <none>
QoS Class:                 BestEffort
Restart Policy:            <none>
Node-Selectors:            <none>
Tolerations:               <none>
Events:                    <none>
`
	compare(t, want, Object(p, Related{Events: []*corev1.Event{}}, now))
}

func TestNode(t *testing.T) {
	n := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: "n1", CreationTimestamp: ago(time.Hour), Labels: map[string]string{"node-role.kubernetes.io/edge": ""}},
		Spec: corev1.NodeSpec{PodCIDR: "10.0.0.0/24", Unschedulable: true, Taints: []corev1.Taint{{Key: "k", Value: "v", Effect: "NoSchedule"},
			{Key: "node.kubernetes.io/unschedulable", Effect: "NoSchedule"}}},
		Status: corev1.NodeStatus{
			Capacity: amounts("2", "4Gi"), Allocatable: amounts("2", "2Gi"),
			Addresses:  []corev1.NodeAddress{{Type: "InternalIP", Address: "192.0.2.1"}, {Type: "Hostname", Address: "n1"}},
			Conditions: []corev1.NodeCondition{{Type: "Ready", Status: "True", Reason: "KubeletReady", LastHeartbeatTime: ago(time.Hour), LastTransitionTime: ago(time.Hour)}},
			NodeInfo:   corev1.NodeSystemInfo{KernelVersion: "6.1", OSImage: "Debian", KubeletVersion: "v1", Architecture: "amd64", OperatingSystem: "linux", ContainerRuntimeVersion: "containerd://2"},
		},
	}
	ended := onNode("ended", amounts("1", "1Gi"), nil)
	ended.Status.Phase = corev1.PodSucceeded
	pods := []*corev1.Pod{onNode("web", amounts("500m", "512Mi"), amounts("4", "1Gi")), ended, onNode("idle", nil, nil)}
	want := `Name:           n1
Roles:          edge
Labels:         node-role.kubernetes.io/edge=
Annotations:    <none>
Created:        Fri, 01 May 2026 11:00:00 +0000 (60m ago)
Taints:         k=v:NoSchedule
                node.kubernetes.io/unschedulable:NoSchedule
Unschedulable:  true
Last Heard Of:  Fri, 01 May 2026 11:59:50 +0000 (10s ago)
Conditions:
  Type   Status  Since  Reason
  Ready  True    60m    KubeletReady
Addresses:
  InternalIP:  192.0.2.1
  Hostname:    n1
Capacity:
  cpu:     2
  memory:  4Gi
Allocatable:
  cpu:     2
  memory:  2Gi
System Info:
  Machine ID:                 <none>
  System UUID:                <none>
  Boot ID:                    <none>
  Kernel Version:             6.1
  OS Image:                   Debian
  Operating System:           linux
  Architecture:               amd64
  Container Runtime Version:  containerd://2
  Agent Version:              v1
PodCIDR:  10.0.0.0/24
Non-terminated Pods (2):
  Namespace  Name  CPU Requests  CPU Limits  Memory Requests  Memory Limits  Age
  default    idle  0 (0%)        0 (0%)      0 (0%)           0 (0%)         60m
  default    web   500m (25%)    4 (200%)    512Mi (25%)      1Gi (50%)      60m
Allocated resources (limits may be more than there is):
  Resource  Requests     Limits
  cpu       500m (25%)   4 (200%)
  memory    512Mi (25%)  1Gi (50%)
`
	lease := &coordinationv1.Lease{Spec: coordinationv1.LeaseSpec{RenewTime: ptr.To(metav1.MicroTime(ago(10 * time.Second)))}}
	compare(t, want, Object(n, Related{Pods: pods, Lease: lease}, now))

	if got := Object(n, Related{}, now); !strings.Contains(got, "Last Heard Of:  not since the server started\n") {
		t.Error(got)
	}
}

func TestOtherKinds(t *testing.T) {
	meta := metav1.ObjectMeta{Name: "x", Namespace: "default", CreationTimestamp: ago(time.Minute)}
	head := `Name:         x
Namespace:    default
Labels:       <none>
Annotations:  <none>
Created:      Fri, 01 May 2026 11:59:00 +0000 (60s ago)
`
	for name, tc := range map[string]struct {
		obj  api.Object
		want string
	}{
		"secret": {&corev1.Secret{ObjectMeta: meta, Type: "Opaque", Data: map[string][]byte{"password": []byte("hunter2"), "a": nil}},
			"Type:         Opaque\nData:\n  a:         0 bytes\n  password:  7 bytes\n"},
		"configMap": {&corev1.ConfigMap{ObjectMeta: meta, Immutable: ptr.To(true),
			Data: map[string]string{"k": "abc", "file": "a: 1\n\tb\n\n", "empty": ""}, BinaryData: map[string][]byte{"raw": {1, 2}}},
			"Immutable:    true\nData:\n  empty:\n    \n  file:\n    a: 1\n        b\n    \n  k:\n    abc\nBinary Data:\n  raw:  2 bytes\n"},
		"configMap without data": {&corev1.ConfigMap{ObjectMeta: meta}, "Data:         <none>\nBinary Data:  <none>\n"},
		"event": {&corev1.Event{ObjectMeta: meta, Type: "Normal", Reason: "Pulled", Message: "m", InvolvedObject: corev1.ObjectReference{Kind: "Pod", Name: "p"}},
			"About:        Pod/p\nType:         Normal\nReason:       Pulled\nSeen:         60s\nFrom:         <none>\nMessage:      m\n"},
	} {
		t.Run(name, func(t *testing.T) {
			got := Object(tc.obj, Related{}, now)
			compare(t, head+tc.want, got)
			if strings.Contains(got, "hunter2") {
				t.Error("it shows what a Secret holds")
			}
		})
	}
}

func TestServiceAccount(t *testing.T) {
	sa := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "x"}, ImagePullSecrets: []corev1.LocalObjectReference{{Name: "a"}, {Name: "b"}}}
	want := `Name:                x
Labels:              <none>
Annotations:         <none>
Created:             <unknown>
Image pull secrets:  a
                     b
`
	compare(t, want, Object(sa, Related{}, now))
}

// TestEveryKindIsDescribed: one that is empty too.
func TestEveryKindIsDescribed(t *testing.T) {
	for _, k := range api.Kinds {
		obj := k.New()
		obj.SetName("x")
		if got := Object(obj, Related{Events: []*corev1.Event{}}, now); !strings.Contains(got, "x") {
			t.Errorf("%s: %s", k.Name, got)
		}
	}
}
