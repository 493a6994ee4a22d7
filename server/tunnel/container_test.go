// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package tunnel

import (
	"net/http"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func podOf(containers ...string) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p", Annotations: map[string]string{}}}
	for _, name := range containers {
		if init, ok := strings.CutPrefix(name, "init:"); ok {
			p.Spec.InitContainers = append(p.Spec.InitContainers, corev1.Container{Name: init})
			continue
		}
		if name, ok := strings.CutPrefix(name, "debug:"); ok {
			p.Spec.EphemeralContainers = append(p.Spec.EphemeralContainers, corev1.EphemeralContainer{
				EphemeralContainerCommon: corev1.EphemeralContainerCommon{Name: name},
			})
			continue
		}
		p.Spec.Containers = append(p.Spec.Containers, corev1.Container{Name: name})
	}
	return p
}

func TestChooseContainer(t *testing.T) {
	annotated := podOf("a", "b")
	annotated.Annotations[defaultContainerAnnotation] = "b"
	for _, test := range []struct {
		pod       *corev1.Pod
		name      string
		want, err string
	}{
		{podOf("a"), "", "a", ""},
		{podOf("init:i", "a"), "", "a", ""},
		{podOf("init:i", "a"), "i", "i", ""},
		{podOf("a", "b"), "b", "b", ""},
		{annotated, "", "b", ""},
		{podOf("a", "debug:d"), "", "a", ""},
		{podOf("a", "debug:d"), "d", "d", ""},
		{podOf("a", "b", "debug:d"), "", "", "a container name must be specified for pod p, choose one of: [a b] or one of the ephemeral containers: [d]"},
		{podOf("a"), "x", "", "container x is not valid for pod p"},
		{podOf("a", "b"), "", "", "a container name must be specified for pod p, choose one of: [a b]"},
		{podOf("init:i", "a", "b"), "", "", "a container name must be specified for pod p, choose one of: [a b] or one of the init containers: [i]"},
	} {
		got, err := chooseContainer(test.pod, test.name)
		if got != test.want || (err == nil) != (test.err == "") {
			t.Errorf("%q: %q, %v", test.name, got, err)
		}
		if err != nil && (err.Error() != test.err || !apierrors.IsBadRequest(err)) {
			t.Errorf("%q: %v, want BadRequest %s", test.name, err, test.err)
		}
	}
}

func TestRefusal(t *testing.T) {
	waiting := func(reason string) *corev1.Pod {
		p := podOf("c")
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{
			Name: "c", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason}},
		}}
		return p
	}
	for _, test := range []struct {
		code     int
		pod      *corev1.Pod
		previous bool
		reason   metav1.StatusReason
		want     string
	}{
		{http.StatusNotFound, podOf("c"), false, metav1.StatusReasonBadRequest, `container "c" in pod "p" is not available`},
		{http.StatusNotFound, podOf("c"), true, metav1.StatusReasonBadRequest, `previous terminated container "c" in pod "p" not found`},
		{http.StatusNotFound, waiting("ContainerCreating"), false, metav1.StatusReasonBadRequest, `container "c" in pod "p" is waiting to start: ContainerCreating`},
		{http.StatusNotFound, waiting("ErrImagePull"), false, metav1.StatusReasonBadRequest, `container "c" in pod "p" is waiting to start: image can't be pulled`},
		{http.StatusNotFound, waiting("ImagePullBackOff"), false, metav1.StatusReasonBadRequest, `container "c" in pod "p" is waiting to start: trying and failing to pull image`},
		{http.StatusBadRequest, podOf("c"), false, metav1.StatusReasonBadRequest, `text`},
		{http.StatusInternalServerError, podOf("c"), false, metav1.StatusReasonInternalError, `Internal error occurred: node "" answered 500: text`},
	} {
		err := refusal(test.code, "text", test.pod, "c", test.previous)
		if err.Error() != test.want || apierrors.ReasonForError(err) != test.reason {
			t.Errorf("%d: %v (%s), want %s", test.code, err, apierrors.ReasonForError(err), test.want)
		}
	}
}

var terminated = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{}}

func TestPreviousAttempt(t *testing.T) {
	running := corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}
	waiting := corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}}
	for name, test := range map[string]struct {
		now, last corev1.ContainerState
		restarts  int32
		want      int32
		ok        bool
	}{
		"runs for the first time":  {now: running},
		"runs again":               {now: running, last: terminated, restarts: 2, want: 1, ok: true},
		"backs off":                {now: waiting, last: terminated, restarts: 2, want: 2, ok: true},
		"backs off first":          {now: waiting, last: terminated, restarts: 0, want: 0, ok: true},
		"has not started":          {now: waiting},
		"ended for good":           {now: terminated, last: terminated, restarts: 1, want: 0, ok: true},
		"ended for good, at once":  {now: terminated},
		"replaced and not counted": {now: running, last: terminated},
	} {
		p := podOf("c")
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "c", State: test.now, LastTerminationState: test.last, RestartCount: test.restarts}}
		if got, ok := previousAttempt(p, "c"); ok != test.ok || ok && got != test.want {
			t.Errorf("%s: %d, %t; want %d, %t", name, got, ok, test.want, test.ok)
		}
	}
}
