// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package syncloop

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
)

// HandlePodCleanups looks for what is left over. Pods whose UID came again while
// its first run was ending are created anew. What no source wants is removed, but
// only once all sources have spoken: the runtime's orphans through the workers,
// the rest by the cleaners. It makes no call to the runtime, and has nothing to do
// when nothing has changed.
func (l *Loop) HandlePodCleanups(ctx context.Context) {
	desired := l.Pods.Pods()
	known := l.Workers.SyncKnownPods(desired)
	l.verdicts.retain(known.Has)
	l.Resizes.Retain(known.Has)
	l.restartPods(desired, known)
	if !l.Sources.AllReady() {
		return
	}
	l.retryResizes()
	l.killOrphans(known)
	l.cleanUp(ctx, known)
}

// restartPods creates the desired pods that have no worker, and adds them to known.
func (l *Loop) restartPods(desired []*corev1.Pod, known sets.Set[types.UID]) {
	var anew []*corev1.Pod
	for _, pod := range desired {
		if !known.Has(pod.UID) {
			anew = append(anew, pod)
			known.Insert(pod.UID)
		}
	}
	if len(anew) > 0 {
		l.HandlePodAdditions(anew)
	}
}

// killOrphans ends what the runtime has of pods without a worker, and adds them to
// known.
func (l *Loop) killOrphans(known sets.Set[types.UID]) {
	for _, pod := range l.Runtime.Pods() {
		if !known.Has(pod.UID) && !l.Workers.CouldHaveRunningContainers(pod.UID) {
			l.Logger.Info("ending an orphaned pod", "pod", pod.Namespace+"/"+pod.Name, "uid", pod.UID)
			l.Workers.KillOrphan(pod)
		}
		known.Insert(pod.UID)
	}
}

// cleanUp calls the cleaners, if they have not yet seen what to keep.
func (l *Loop) cleanUp(ctx context.Context, keep sets.Set[types.UID]) {
	if l.kept != nil && l.kept.Equal(keep) {
		return
	}
	l.kept = keep
	for _, c := range l.Cleaners {
		if err := c.Clean(ctx, keep); err != nil {
			l.Logger.Warn("cleaning up after pods failed", "cleaner", c.Name, "err", err)
			l.kept = nil
		}
	}
}
