// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package syncloop

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-run/berth/agent/podtypes"
	"github.com/berth-run/berth/api"
)

// running returns what the runtime has, by UID.
func (l *Loop) running() map[types.UID]*podtypes.RuntimePod {
	running := map[types.UID]*podtypes.RuntimePod{}
	for _, pod := range l.Runtime.Pods() {
		running[pod.UID] = pod
	}
	return running
}

// awaitsName sees to what the runtime still has of other pods of the name, of which
// no source spoke since the agent's start, and tells whether the pod has to wait for
// that. Once all sources have spoken they are ended, and the worker of the new pod
// waits for it. Before that, they may be pods that the node is to keep: those of a
// store that the server does not know.
func (l *Loop) awaitsName(pod *corev1.Pod, running map[types.UID]*podtypes.RuntimePod) bool {
	others := l.namesakes(pod, running)
	if len(others) == 0 || pod.DeletionTimestamp != nil {
		l.waiting.over(pod.UID)
		return false
	}
	if !l.Sources.AllReady() {
		l.wait(pod, others[0])
		return true
	}
	l.waiting.over(pod.UID)
	for _, other := range others {
		l.Logger.Info("ending a pod that was replaced", "pod", api.FullName(pod), "uid", other.UID, "successor", pod.UID)
		l.Workers.KillOrphan(other)
	}
	return false
}

// namesakes returns what the runtime has of pods of the same name that nobody wants
// and nobody ends.
func (l *Loop) namesakes(pod *corev1.Pod, running map[types.UID]*podtypes.RuntimePod) []*podtypes.RuntimePod {
	var others []*podtypes.RuntimePod
	for uid, other := range running {
		if uid == pod.UID || other.Namespace != pod.Namespace || other.Name != pod.Name {
			continue
		}
		if _, wanted := l.Pods.PodByUID(uid); !wanted && !l.Workers.CouldHaveRunningContainers(uid) {
			others = append(others, other)
		}
	}
	return others
}

// wait has a pod wait, and tells it when it comes again in vain: the sources of most
// agents have spoken long before.
func (l *Loop) wait(pod *corev1.Pod, other *podtypes.RuntimePod) {
	if !l.waiting.again(pod.UID) {
		return
	}
	l.Logger.Warn("pod name is taken", "pod", api.FullName(pod), "uid", pod.UID, "by", other.UID)
	l.Recorder.Record(pod, "", corev1.EventTypeWarning, "FailedValidation",
		"The name of this pod is taken by a pod that the node keeps, perhaps of another store")
}

// waiting has the pods that wait for their names, and how often they came.
type waiting map[types.UID]int

// again notes that the pod came, and tells whether it did for the second time.
func (w waiting) again(uid types.UID) bool {
	w[uid]++
	return w[uid] == 2
}

// still tells whether the pod waits on. To be deleted, it need not.
func (w waiting) still(pod *corev1.Pod) bool {
	if pod.DeletionTimestamp != nil {
		w.over(pod.UID)
	}
	return w[pod.UID] > 0
}

func (w waiting) over(uid types.UID) { delete(w, uid) }
