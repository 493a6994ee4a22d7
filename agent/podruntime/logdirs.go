// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podruntime

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
)

// podLogDir holds the logs of the pod's containers. Log collectors know the name.
func (r *Runtime) podLogDir(pod *corev1.Pod) string {
	return filepath.Join(r.cfg.LogDir, fmt.Sprintf("%s_%s_%s", pod.Namespace, pod.Name, pod.UID))
}

// podOfLogDir returns whose logs a directory of that name holds, by the UID alone:
// nobody may be left who knows the pod's name.
func podOfLogDir(name string) (types.UID, bool) {
	parts := strings.Split(name, "_")
	if len(parts) != 3 {
		return "", false
	}
	return types.UID(parts[2]), true
}

// RemoveOrphanLogs removes the logs of all pods but those to keep. An agent that
// was killed may have left some of a pod that the runtime never had.
func (r *Runtime) RemoveOrphanLogs(keep sets.Set[types.UID]) error {
	return r.removeLogs(func(uid types.UID) bool { return !keep.Has(uid) })
}

// removeLogs removes the logs of the pods for which doomed is true.
func (r *Runtime) removeLogs(doomed func(types.UID) bool) error {
	entries, err := os.ReadDir(r.cfg.LogDir)
	if err != nil && !os.IsNotExist(err) {
		return fmt.Errorf("pod logs: %w", err)
	}
	var errs []error
	for _, e := range entries {
		if uid, ok := podOfLogDir(e.Name()); ok && doomed(uid) {
			if err := os.RemoveAll(filepath.Join(r.cfg.LogDir, e.Name())); err != nil {
				errs = append(errs, fmt.Errorf("logs of pod %s: %w", uid, err))
			}
		}
	}
	return errors.Join(errs...)
}
