// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package images

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/berth-run/berth/agent/podruntime/images/credentials"
)

// need is a request that is being met.
type need struct {
	*Manager
	Request
	ref    reference
	logins []credentials.Credential
	// unreadable says which credentials could not be read.
	unreadable error
	// private: the image is here, but this pod has not proved that it may use it.
	private bool
}

// Ensure returns the runtime's id of the container's image and pulls it first if
// the policy asks for that. It fails with an *Error, or with the context's error
// when that ends: then the pull has ended too, and is not held against the image.
func (m *Manager) Ensure(ctx context.Context, r Request) (string, error) {
	ref, err := parseReference(r.Container.Image)
	if err != nil {
		return "", m.invalidName(r, err)
	}
	n := &need{Manager: m, Request: r, ref: ref}
	n.logins, n.unreadable = credentials.Lookup(ref.image, r.PullSecrets, m.cfg.Node)
	id, err := m.present(ctx, ref.full)
	if err != nil {
		return "", m.inspectFailed(ctx, r, err)
	}
	policy := r.Container.ImagePullPolicy
	if id != "" && policy != corev1.PullAlways {
		if n.private = !n.mayUse(id); !n.private {
			m.event(r, corev1.EventTypeNormal, "Pulled",
				fmt.Sprintf("Container image %q already present on machine and can be accessed by the pod", r.Container.Image))
			return id, nil
		}
	}
	if policy == corev1.PullNever {
		return "", n.neverPull()
	}
	return n.pull(ctx, id)
}

// present returns the id of an image that the node has, or "". It is asked each
// time: the call takes less than a millisecond, and images go behind our back.
func (m *Manager) present(ctx context.Context, image string) (string, error) {
	found, err := m.status(ctx, image)
	return found.GetId(), err
}

func (m *Manager) status(ctx context.Context, image string) (*runtimeapi.Image, error) {
	r, err := m.cfg.Client.ImageStatus(ctx, &runtimeapi.ImageStatusRequest{Image: &runtimeapi.ImageSpec{Image: image}})
	return r.GetImage(), err
}

// pull pulls the image unless a back-off runs. before is the id of the one that the
// node has of that name; empty for none.
func (n *need) pull(ctx context.Context, before string) (string, error) {
	key := failureKey{pod: n.Pod.UID, image: n.ref.full, credentials: credentials.Fingerprint(n.logins)}
	if wait, last := n.failures.waiting(key); wait > 0 {
		return "", n.backOff(n.Request, wait, last)
	}
	n.event(n.Request, corev1.EventTypeNormal, "Pulling", fmt.Sprintf("Pulling image %q", n.Container.Image))
	start := time.Now()
	id, got, err := n.remembered(ctx, before)
	switch {
	case err == nil:
		n.failures.reset(n.Pod.UID, n.ref.full)
		n.event(n.Request, corev1.EventTypeNormal, "Pulled", n.success(ctx, id, got.took, time.Since(start)))
		return id, nil
	case ctx.Err() != nil:
		return "", ctx.Err()
	}
	return "", n.pullFailed(key, err)
}

// success is what users are told of a pull, in the kubelet's words.
func (n *need) success(ctx context.Context, id string, took, waited time.Duration) string {
	text := fmt.Sprintf("Successfully pulled image %q in %s (%s including waiting).", n.Container.Image,
		took.Round(time.Millisecond), waited.Round(time.Millisecond))
	if image, err := n.status(ctx, id); err == nil && image.GetSize() > 0 {
		text += fmt.Sprintf(" Image size: %d bytes.", image.GetSize())
	}
	return text
}
