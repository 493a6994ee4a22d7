// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package images

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Each of these tells the user of one way to have no image, by an event and by
// the error that becomes the container's waiting state.

func (m *Manager) invalidName(r Request, err error) error {
	message := fmt.Sprintf("image name %q: %v", r.Container.Image, err)
	m.event(r, corev1.EventTypeWarning, "InspectFailed", message)
	return &Error{Reason: InvalidImageName, Message: message, Err: err}
}

func (m *Manager) inspectFailed(ctx context.Context, r Request, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	message := fmt.Sprintf("cannot tell whether image %q is on this node: %v", r.Container.Image, plain(err))
	m.event(r, corev1.EventTypeWarning, "InspectFailed", message)
	return &Error{Reason: ImageInspectError, Message: message, Err: err}
}

func (n *need) neverPull() error {
	message := fmt.Sprintf("image %q is not on this node and its pull policy is Never", n.Container.Image)
	if n.private {
		message = fmt.Sprintf("image %q is on this node, but was pulled with credentials that this pod does not have, and its pull policy is Never", n.Container.Image)
	}
	n.event(n.Request, corev1.EventTypeWarning, ErrImageNeverPull, message)
	return &Error{Reason: ErrImageNeverPull, Message: message, Err: errors.New(message)}
}

// pullFailed also names what credentials could not be read: they may be what lacked.
func (n *need) pullFailed(key failureKey, err error) error {
	message := fmt.Sprintf("cannot pull image %q: %v", n.Container.Image, err)
	if n.private {
		message = fmt.Sprintf("image %q is on this node, but was pulled with credentials that this pod does not have; cannot pull it without them: %v", n.Container.Image, err)
	}
	if n.unreadable != nil {
		message += "; " + strings.ReplaceAll(n.unreadable.Error(), "\n", "; ")
	}
	n.event(n.Request, corev1.EventTypeWarning, "Failed", message)
	failed := &Error{Reason: pullReason(err), Message: message, Err: err}
	failed.RetryAfter = n.failures.add(key, failed)
	return failed
}

// backOff leaves the error, which may differ each time, to the container's state: an
// event that says the same is counted.
func (m *Manager) backOff(r Request, wait time.Duration, last *Error) error {
	said := fmt.Sprintf("Back-off pulling image %q", r.Container.Image)
	m.event(r, corev1.EventTypeNormal, "BackOff", said)
	return &Error{Reason: ImagePullBackOff, Message: said + ": " + last.Error(), RetryAfter: wait}
}
