// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-run/berth/api"
)

// volumeUpdates is the condition, if the pod has it.
func (in *Input) volumeUpdates() []corev1.PodCondition {
	fixed := api.FixedFiles(in.Pod)
	if len(fixed) == 0 {
		return nil
	}
	return []corev1.PodCondition{in.generated(condition(api.VolumeUpdates, false, "SubPath",
		"mounted with a subPath, these show what was there when their container started: "+strings.Join(fixed, ", ")))}
}
