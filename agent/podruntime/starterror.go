// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podruntime

import (
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-run/berth/agent/podruntime/images"
	"github.com/berth-run/berth/agent/podtypes"
)

// startError says why a container was not started, as its waiting state shows it.
type startError struct {
	reason  string
	message string
	// retryAfter is when the next try is due; 0 when that is not known.
	retryAfter time.Duration
	// err is what failed just now; nil while a back-off runs.
	err error
}

func (e *startError) Error() string { return e.reason + ": " + e.message }

func (e *startError) Unwrap() error { return e.err }

// asStartError finds the reason that is shown for any way that a start can fail.
func asStartError(err error) *startError {
	if e := (*startError)(nil); errors.As(err, &e) {
		return e
	}
	if e := (*images.Error)(nil); errors.As(err, &e) {
		return &startError{reason: e.Reason, message: e.Message, retryAfter: e.RetryAfter, err: e.Err}
	}
	return &startError{reason: "CreateContainerError", message: err.Error(), err: err}
}

// note puts into the result what came of a container's start.
func (s *podSync) note(c *corev1.Container, err error) {
	if err == nil {
		return
	}
	e := asStartError(err)
	if s.result.Reasons == nil {
		s.result.Reasons = map[string]podtypes.WaitingReason{}
	}
	s.result.Reasons[c.Name] = podtypes.WaitingReason{Reason: e.reason, Message: e.message}
	if e.err != nil {
		s.errs = append(s.errs, fmt.Errorf("container %s: %w", c.Name, err))
	}
	if e.retryAfter > 0 && (s.result.RetryAfter == 0 || e.retryAfter < s.result.RetryAfter) {
		s.result.RetryAfter = e.retryAfter
	}
}

// fieldPath names a container in events.
func fieldPath(pod *corev1.Pod, container string) string {
	for i := range pod.Spec.InitContainers {
		if pod.Spec.InitContainers[i].Name == container {
			return fmt.Sprintf("spec.initContainers{%s}", container)
		}
	}
	if ephemeral(pod, container) != nil {
		return fmt.Sprintf("spec.ephemeralContainers{%s}", container)
	}
	return fmt.Sprintf("spec.containers{%s}", container)
}
