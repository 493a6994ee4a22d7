// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podruntime

import (
	corev1 "k8s.io/api/core/v1"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
	"k8s.io/utils/ptr"

	"github.com/berth-run/berth/agent/userns"
)

// userNamespace maps the pod's users to its range of the node's; nil for a pod whose
// users are the node's.
func (r *Runtime) userNamespace(pod *corev1.Pod) (*runtimeapi.UserNamespace, error) {
	if ptr.Deref(pod.Spec.HostUsers, true) {
		return nil, nil
	}
	first, err := r.cfg.UserRange(pod.UID)
	if err != nil {
		return nil, err
	}
	ids := []*runtimeapi.IDMapping{{HostId: first, ContainerId: 0, Length: userns.Length}}
	return &runtimeapi.UserNamespace{Mode: runtimeapi.NamespaceMode_POD, Uids: ids, Gids: ids}, nil
}

// mapMounts shows the files of mounts as owned by the pod's users: the owner 0 on the
// node is 0 in the pod too.
func mapMounts(mounts []*runtimeapi.Mount, ns *runtimeapi.UserNamespace) {
	for _, m := range mounts {
		m.UidMappings, m.GidMappings = ns.GetUids(), ns.GetGids()
	}
}
