// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package images

import (
	"errors"
	"strings"

	criapierrors "k8s.io/cri-api/pkg/errors"
)

// Reasons of a container whose image is not there, in the kubelet's words.
const (
	ErrImagePull              = "ErrImagePull"
	ImagePullBackOff          = "ImagePullBackOff"
	ErrImageNeverPull         = "ErrImageNeverPull"
	InvalidImageName          = "InvalidImageName"
	ImageInspectError         = "ImageInspectError"
	RegistryUnavailable       = "RegistryUnavailable"
	SignatureValidationFailed = "SignatureValidationFailed"
)

// attemptError is what a pull with one login failed with.
type attemptError struct {
	// login names what it was tried with; empty for none.
	login string
	err   error
}

func (e *attemptError) Error() string {
	if e.login == "" {
		return e.err.Error()
	}
	return "with " + e.login + ": " + e.err.Error()
}

func (e *attemptError) Unwrap() error { return e.err }

// attemptErrors are those of all logins. The last counts for the reason.
type attemptErrors []*attemptError

func (all attemptErrors) Error() string {
	var texts []string
	for _, e := range all {
		texts = append(texts, e.Error())
	}
	return strings.Join(texts, "; ")
}

// pullReason is the reason for a pull that failed. A runtime that knows more begins
// its message with it, as CRI's errors cross the wire as text.
func pullReason(err error) string {
	var attempts attemptErrors
	if !errors.As(err, &attempts) || len(attempts) == 0 {
		return ErrImagePull
	}
	text := attempts[len(attempts)-1].err.Error()
	for _, known := range []error{criapierrors.ErrRegistryUnavailable, criapierrors.ErrSignatureValidationFailed} {
		if strings.HasPrefix(text, known.Error()) {
			return known.Error()
		}
	}
	return ErrImagePull
}
