// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podruntime

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// criSignal prefixes the names of signals on the runtime's wire, which has words for
// the signs of SIGRTMIN+1 and SIGRTMAX-1.
const criSignal = "SIGNAL_"

var (
	toCRISignal   = strings.NewReplacer("+", "PLUS", "-", "MINUS")
	fromCRISignal = strings.NewReplacer(criSignal, "", "PLUS", "+", "MINUS", "-")
)

// stopSignal is what a container is told to end by; the default of the runtime is its
// image's.
func stopSignal(c *corev1.Container) runtimeapi.Signal {
	if c.Lifecycle == nil || c.Lifecycle.StopSignal == nil {
		return runtimeapi.Signal_SIGNAL_RUNTIME_DEFAULT
	}
	return runtimeapi.Signal(runtimeapi.Signal_value[criSignal+toCRISignal.Replace(string(*c.Lifecycle.StopSignal))])
}

// signalName is a signal as a pod's status names it, or "" if the runtime says nothing
// of it.
func signalName(s runtimeapi.Signal) corev1.Signal {
	if s == runtimeapi.Signal_SIGNAL_RUNTIME_DEFAULT {
		return ""
	}
	return corev1.Signal(fromCRISignal.Replace(s.String()))
}
