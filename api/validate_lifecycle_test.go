// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
)

func TestValidateLifecycle(t *testing.T) {
	const at = "spec.containers[0].lifecycle."
	exec := func(command ...string) *corev1.ExecAction { return &corev1.ExecAction{Command: command} }
	get := func(change func(*corev1.HTTPGetAction)) *corev1.HTTPGetAction {
		g := &corev1.HTTPGetAction{Port: intstr.FromString("http")}
		defaultHTTPGet(g)
		change(g)
		return g
	}
	postStart := func(h corev1.LifecycleHandler) corev1.Lifecycle { return corev1.Lifecycle{PostStart: &h} }
	preStop := func(h corev1.LifecycleHandler) corev1.Lifecycle { return corev1.Lifecycle{PreStop: &h} }
	signal := corev1.Lifecycle{StopSignal: ptr.To(corev1.SIGUSR1)}

	for name, tc := range map[string]struct {
		lifecycle corev1.Lifecycle
		change    func(*corev1.Pod)
		path      string // empty: allowed
		words     string
	}{
		"exec":        {lifecycle: postStart(corev1.LifecycleHandler{Exec: exec("true")})},
		"http":        {lifecycle: preStop(corev1.LifecycleHandler{HTTPGet: get(func(*corev1.HTTPGetAction) {})})},
		"tcp":         {lifecycle: preStop(corev1.LifecycleHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromInt32(80)}})},
		"sleep":       {lifecycle: preStop(corev1.LifecycleHandler{Sleep: &corev1.SleepAction{Seconds: 30}})},
		"no sleep":    {lifecycle: preStop(corev1.LifecycleHandler{Sleep: &corev1.SleepAction{}})},
		"stop signal": {lifecycle: signal, change: func(p *corev1.Pod) { p.Spec.OS = &corev1.PodOS{Name: corev1.Linux} }},

		"no handler":   {lifecycle: postStart(corev1.LifecycleHandler{}), path: at + "postStart", words: "must specify a handler type"},
		"no command":   {lifecycle: postStart(corev1.LifecycleHandler{Exec: exec()}), path: at + "postStart.exec.command", words: "Required value"},
		"NUL":          {lifecycle: postStart(corev1.LifecycleHandler{Exec: exec("a", "\x00")}), path: at + "postStart.exec.command[1]", words: "NUL"},
		"two handlers": {lifecycle: preStop(corev1.LifecycleHandler{Exec: exec("a"), Sleep: &corev1.SleepAction{}}), path: at + "preStop.sleep", words: "may not specify more than 1 handler type"},
		"no path": {lifecycle: preStop(corev1.LifecycleHandler{HTTPGet: get(func(g *corev1.HTTPGetAction) { g.Path = "" })}),
			path: at + "preStop.httpGet.path", words: "Required value"},
		"port": {lifecycle: preStop(corev1.LifecycleHandler{HTTPGet: get(func(g *corev1.HTTPGetAction) { g.Port = intstr.FromInt32(0) })}),
			path: at + "preStop.httpGet.port", words: "between 1 and 65535"},
		"port name": {lifecycle: preStop(corev1.LifecycleHandler{HTTPGet: get(func(g *corev1.HTTPGetAction) { g.Port = intstr.FromString("a_b") })}),
			path: at + "preStop.httpGet.port", words: "must contain only"},
		"scheme": {lifecycle: preStop(corev1.LifecycleHandler{HTTPGet: get(func(g *corev1.HTTPGetAction) { g.Scheme = "FTP" })}),
			path: at + "preStop.httpGet.scheme", words: "Unsupported value"},
		"header": {lifecycle: preStop(corev1.LifecycleHandler{HTTPGet: get(func(g *corev1.HTTPGetAction) { g.HTTPHeaders = []corev1.HTTPHeader{{Name: "a b"}} })}),
			path: at + "preStop.httpGet.httpHeaders", words: "a valid HTTP header"},
		"tcp port":          {lifecycle: preStop(corev1.LifecycleHandler{TCPSocket: &corev1.TCPSocketAction{}}), path: at + "preStop.tcpSocket.port", words: "between 1 and 65535"},
		"sleeps too long":   {lifecycle: preStop(corev1.LifecycleHandler{Sleep: &corev1.SleepAction{Seconds: 31}}), path: at + "preStop.sleep", words: "less than terminationGracePeriodSeconds (30)"},
		"negative sleep":    {lifecycle: preStop(corev1.LifecycleHandler{Sleep: &corev1.SleepAction{Seconds: -1}}), path: at + "preStop.sleep", words: "must be non-negative"},
		"signal without OS": {lifecycle: signal, path: at + "stopSignal", words: "empty `spec.os.name`"},
		"unknown signal": {lifecycle: corev1.Lifecycle{StopSignal: ptr.To(corev1.Signal("SIGNUL"))},
			change: func(p *corev1.Pod) { p.Spec.OS = &corev1.PodOS{Name: corev1.Linux} }, path: at + "stopSignal", words: "Unsupported value"},
		"init container": {lifecycle: corev1.Lifecycle{}, change: func(p *corev1.Pod) { p.Spec.InitContainers[0].Lifecycle = &corev1.Lifecycle{} },
			path: "spec.initContainers[0].lifecycle", words: "may not be set for init containers without restartPolicy=Always"},
	} {
		t.Run(name, func(t *testing.T) {
			pod := validPod()
			pod.Spec.Containers[0].Lifecycle = &tc.lifecycle
			if tc.change != nil {
				tc.change(pod)
			}
			checkError(t, pod, tc.path, tc.words)
		})
	}
}

func TestDefaultLifecycle(t *testing.T) {
	pod := validPod()
	pod.Spec.Containers[0].Lifecycle = &corev1.Lifecycle{
		PreStop: &corev1.LifecycleHandler{HTTPGet: &corev1.HTTPGetAction{Port: intstr.FromInt32(80)}},
	}
	Default(pod)
	if get := pod.Spec.Containers[0].Lifecycle.PreStop.HTTPGet; get.Path != "/" || get.Scheme != corev1.URISchemeHTTP {
		t.Errorf("got %+v", get)
	}
}
