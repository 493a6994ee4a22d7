// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package images brings a container's image to the node, as its pull policy says,
// before the container is made.
package images

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/berth-run/berth/agent/cri"
	"github.com/berth-run/berth/agent/podruntime/images/credentials"
	"github.com/berth-run/berth/agent/podtypes"
)

// Error says why an image is not there, as the container's waiting state shows it.
type Error struct {
	Reason  string
	Message string
	// RetryAfter is when the next try is due; 0 when that is not known.
	RetryAfter time.Duration
	// Err is what failed just now; nil while a back-off runs.
	Err error
}

func (e *Error) Error() string { return e.Reason + ": " + e.Message }

func (e *Error) Unwrap() error { return e.Err }

// DefaultMaxParallelPulls is how many images a node pulls at once unless told
// otherwise.
const DefaultMaxParallelPulls = 8

// Config says what a Manager works with.
type Config struct {
	Client   runtimeapi.ImageServiceClient
	Recorder podtypes.EventRecorder
	// MaxParallelPulls is how many images are pulled at once; 0 is
	// DefaultMaxParallelPulls.
	MaxParallelPulls int
	// Node has the node's own logins; nil if it has none.
	Node *credentials.NodeFile
	// Waiting, unless nil, is told what a container waits for while its image comes.
	Waiting func(pod *corev1.Pod, container, message string)
}

// Manager ensures that images are present.
type Manager struct {
	cfg      Config
	puller   *puller
	failures failures
}

// New returns a Manager of the runtime's images.
func New(cfg Config) *Manager {
	return &Manager{
		cfg:      cfg,
		puller:   newPuller(cfg.Client, cmp.Or(cfg.MaxParallelPulls, DefaultMaxParallelPulls)),
		failures: failures{entries: map[failureKey]failure{}},
	}
}

// Request is for the image of one container.
type Request struct {
	Pod       *corev1.Pod
	Container *corev1.Container
	// FieldPath names the container in events.
	FieldPath   string
	PullSecrets []corev1.Secret
}

// Ensure returns the runtime's id of the container's image and pulls it first if
// the policy asks for that. It fails with an *Error, or with the context's error
// when that ends: then the pull has ended too, and is not held against the image.
func (m *Manager) Ensure(ctx context.Context, r Request) (string, error) {
	ref, err := parseReference(r.Container.Image)
	if err != nil {
		return "", m.invalidName(r, err)
	}
	if r.Container.ImagePullPolicy != corev1.PullAlways {
		id, err := m.present(ctx, ref.full)
		switch {
		case err != nil:
			return "", m.inspectFailed(ctx, r, err)
		case id != "":
			m.event(r, corev1.EventTypeNormal, "Pulled", fmt.Sprintf("Image %q is on this node already", r.Container.Image))
			return id, nil
		case r.Container.ImagePullPolicy == corev1.PullNever:
			return "", m.neverPull(r)
		}
	}
	return m.pull(ctx, r, ref)
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

func (m *Manager) pull(ctx context.Context, r Request, ref reference) (string, error) {
	logins, unreadable := credentials.Lookup(ref.image, r.PullSecrets, m.cfg.Node)
	key := failureKey{pod: r.Pod.UID, image: ref.full, credentials: credentials.Fingerprint(logins)}
	if wait, last := m.failures.waiting(key); wait > 0 {
		return "", m.backOff(r, wait, last)
	}
	m.event(r, corev1.EventTypeNormal, "Pulling", fmt.Sprintf("Pulling image %q", r.Container.Image))
	start := time.Now()
	got, err := m.puller.pull(ctx, ref.full, logins, m.teller(r))
	switch {
	case err == nil:
		m.failures.reset(r.Pod.UID, ref.full)
		m.event(r, corev1.EventTypeNormal, "Pulled", m.success(ctx, r, got, time.Since(start)))
		return got.id, nil
	case ctx.Err() != nil:
		return "", ctx.Err()
	}
	return "", m.pullFailed(r, key, err, unreadable)
}

// success is what users are told of a pull, in the kubelet's words.
func (m *Manager) success(ctx context.Context, r Request, got pulled, waited time.Duration) string {
	text := fmt.Sprintf("Successfully pulled image %q in %s (%s including waiting).", r.Container.Image,
		got.took.Round(time.Millisecond), waited.Round(time.Millisecond))
	if image, err := m.status(ctx, got.id); err == nil && image.GetSize() > 0 {
		text += fmt.Sprintf(" Image size: %d bytes.", image.GetSize())
	}
	return text
}

// WatchNodeCredentials calls retry for each pod with an image that could not be pulled
// whenever the node's logins change, until ctx ends.
func (m *Manager) WatchNodeCredentials(ctx context.Context, log *slog.Logger, retry func(types.UID)) error {
	if m.cfg.Node == nil {
		<-ctx.Done()
		return nil
	}
	return m.cfg.Node.Watch(ctx, log, func() {
		for _, uid := range m.failures.pods() {
			retry(uid)
		}
	})
}

// plain is an error in the runtime's own words: the registry's answer is what a user
// looks for.
func plain(err error) error { return errors.New(cri.Message(err)) }

func (m *Manager) event(r Request, eventType, reason, message string) {
	m.cfg.Recorder.Record(r.Pod, r.FieldPath, eventType, reason, message)
}
