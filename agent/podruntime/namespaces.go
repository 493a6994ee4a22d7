// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podruntime

import (
	corev1 "k8s.io/api/core/v1"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
	"k8s.io/utils/ptr"
)

// namespaceOptions: containers share the pod's network and IPC, each has its own
// processes, and users are the node's, unless the pod asks for something else. userns
// is nil for a pod whose users are the node's.
func namespaceOptions(pod *corev1.Pod, userns *runtimeapi.UserNamespace) *runtimeapi.NamespaceOption {
	o := &runtimeapi.NamespaceOption{
		Network:       runtimeapi.NamespaceMode_POD,
		Ipc:           runtimeapi.NamespaceMode_POD,
		Pid:           runtimeapi.NamespaceMode_CONTAINER,
		UsernsOptions: userns,
	}
	if pod.Spec.HostNetwork {
		o.Network = runtimeapi.NamespaceMode_NODE
	}
	if pod.Spec.HostIPC {
		o.Ipc = runtimeapi.NamespaceMode_NODE
	}
	switch {
	case pod.Spec.HostPID:
		o.Pid = runtimeapi.NamespaceMode_NODE
	case ptr.Deref(pod.Spec.ShareProcessNamespace, false):
		o.Pid = runtimeapi.NamespaceMode_POD
	}
	return o
}
