// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podruntime

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

func TestStopSignal(t *testing.T) {
	for name, number := range runtimeapi.Signal_value {
		signal := signalName(runtimeapi.Signal(number))
		c := testContainer("web")
		if signal != "" {
			c.Lifecycle = &corev1.Lifecycle{StopSignal: &signal}
		}
		if got := stopSignal(&c); int32(got) != number {
			t.Errorf("%s: %q becomes %s", name, signal, got)
		}
	}
	rtmin := corev1.SIGRTMINPLUS1
	c := corev1.Container{Lifecycle: &corev1.Lifecycle{StopSignal: &rtmin}}
	if got := stopSignal(&c); got != runtimeapi.Signal_SIGNAL_SIGRTMINPLUS1 {
		t.Errorf("%s becomes %s", rtmin, got)
	}
}
