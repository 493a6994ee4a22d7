// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package tunnel

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/berth-run/berth/api"
)

// defaultContainerAnnotation names the container that is meant when a request
// names none.
const defaultContainerAnnotation = "kubectl.kubernetes.io/default-container"

// chooseContainer returns the container that a request means, or says, as
// Kubernetes does, why it means none.
func chooseContainer(pod *corev1.Pod, name string) (string, error) {
	if name == "" {
		name = defaultContainer(pod)
	}
	if name != "" {
		if api.Container(pod, name) == nil {
			return "", apierrors.NewBadRequest(fmt.Sprintf("container %s is not valid for pod %s", name, pod.Name))
		}
		return name, nil
	}
	message := fmt.Sprintf("a container name must be specified for pod %s, choose one of: [%s]",
		pod.Name, strings.Join(containerNames(pod.Spec.Containers), " "))
	if inits := containerNames(pod.Spec.InitContainers); len(inits) > 0 {
		message += fmt.Sprintf(" or one of the init containers: [%s]", strings.Join(inits, " "))
	}
	if ephemeral := ephemeralNames(pod); len(ephemeral) > 0 {
		message += fmt.Sprintf(" or one of the ephemeral containers: [%s]", strings.Join(ephemeral, " "))
	}
	return "", apierrors.NewBadRequest(message)
}

func defaultContainer(pod *corev1.Pod) string {
	if len(pod.Spec.Containers) == 1 {
		return pod.Spec.Containers[0].Name
	}
	if name := pod.Annotations[defaultContainerAnnotation]; api.Container(pod, name) != nil {
		return name
	}
	return ""
}

func containerNames(containers []corev1.Container) []string {
	names := make([]string, len(containers))
	for i := range containers {
		names[i] = containers[i].Name
	}
	return names
}

func ephemeralNames(pod *corev1.Pod) (names []string) {
	for i := range pod.Spec.EphemeralContainers {
		names = append(names, pod.Spec.EphemeralContainers[i].Name)
	}
	return names
}

// refusal words an agent's answer other than 200. 404 means that there is no log
// file, because the container has not started that often.
func refusal(code int, text string, pod *corev1.Pod, container string, previous bool) error {
	switch {
	case code == http.StatusNotFound && previous:
		return noPrevious(pod, container)
	case code == http.StatusNotFound:
		return apierrors.NewBadRequest(notStarted(pod, container))
	case code == http.StatusBadRequest:
		return apierrors.NewBadRequest(text)
	}
	return apierrors.NewInternalError(fmt.Errorf("node %q answered %d: %s", pod.Spec.NodeName, code, text))
}

// previousAttempt returns which attempt at the container it is that its status
// calls the last termination: the newest while the container waits for its next
// start, as in CrashLoopBackOff, and else the one before. An attempt has the number
// of the restarts before it.
func previousAttempt(pod *corev1.Pod, container string) (attempt int32, ok bool) {
	status := containerStatus(pod, container)
	if status == nil || status.LastTerminationState.Terminated == nil {
		return 0, false
	}
	if status.State.Waiting != nil {
		return status.RestartCount, true
	}
	return status.RestartCount - 1, status.RestartCount > 0
}

func noPrevious(pod *corev1.Pod, container string) error {
	return apierrors.NewBadRequest(fmt.Sprintf("previous terminated container %q in pod %q not found", container, pod.Name))
}

// notStarted says what a container without a log waits for.
func notStarted(pod *corev1.Pod, container string) string {
	status := containerStatus(pod, container)
	if status == nil || status.State.Waiting == nil {
		return fmt.Sprintf("container %q in pod %q is not available", container, pod.Name)
	}
	reason := status.State.Waiting.Reason
	switch reason {
	case "ErrImagePull":
		reason = "image can't be pulled"
	case "ImagePullBackOff":
		reason = "trying and failing to pull image"
	}
	return fmt.Sprintf("container %q in pod %q is waiting to start: %s", container, pod.Name, reason)
}

func containerStatus(pod *corev1.Pod, name string) *corev1.ContainerStatus {
	all := slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses, pod.Status.EphemeralContainerStatuses)
	i := slices.IndexFunc(all, func(s corev1.ContainerStatus) bool { return s.Name == name })
	if i < 0 {
		return nil
	}
	return &all[i]
}
