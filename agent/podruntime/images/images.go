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
	"k8s.io/apimachinery/pkg/util/sets"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/berth-run/berth/agent/cri"
	"github.com/berth-run/berth/agent/podruntime/images/credentials"
	"github.com/berth-run/berth/agent/podruntime/images/pulled"
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
	// Progress, unless nil, returns a function that tells how far the pull of an image
	// of that repository is.
	Progress func(credentials.Image) func(context.Context) (cri.PullProgress, error)
	// ProgressDeadline is how long a pull may stand still before it is cancelled; 0 is
	// DefaultProgressDeadline. It is of no use without Progress.
	ProgressDeadline time.Duration
	// Node has the node's own logins; nil if it has none.
	Node *credentials.NodeFile
	// Pulled remembers the logins that images were pulled with; nil lets every pod use
	// every image.
	Pulled *pulled.Store
	// Waiting, unless nil, is told what a container waits for while its image comes.
	Waiting func(pod *corev1.Pod, container, message string)
	Logger  *slog.Logger
}

// Manager ensures that images are present.
type Manager struct {
	cfg      Config
	puller   *puller
	failures failures
}

// New returns a Manager of the runtime's images.
func New(cfg Config) *Manager {
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	return &Manager{
		cfg: cfg,
		puller: newPuller(cfg.Client, cmp.Or(cfg.MaxParallelPulls, DefaultMaxParallelPulls),
			monitor{cfg.Progress, cmp.Or(cfg.ProgressDeadline, DefaultProgressDeadline), cfg.Logger}),
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

// WatchNodeCredentials calls retry for each pod with an image that could not be pulled
// whenever the node's logins change, until ctx ends.
func (m *Manager) WatchNodeCredentials(ctx context.Context, retry func(types.UID)) error {
	if m.cfg.Node == nil {
		<-ctx.Done()
		return nil
	}
	return m.cfg.Node.Watch(ctx, m.cfg.Logger, func() {
		for _, uid := range m.failures.pods() {
			retry(uid)
		}
	})
}

// Prune forgets what was remembered of images that the runtime does not have any more.
// It is for the agent's start, before there are pods.
func (m *Manager) Prune(ctx context.Context) error {
	if m.cfg.Pulled == nil {
		return nil
	}
	all, err := m.cfg.Client.ListImages(ctx, &runtimeapi.ListImagesRequest{})
	if err != nil {
		return fmt.Errorf("listing images: %w", plain(err))
	}
	ids := sets.New[string]()
	for _, image := range all.GetImages() {
		ids.Insert(image.GetId())
	}
	return m.cfg.Pulled.Prune(ids, func(image string) (bool, error) {
		id, err := m.present(ctx, image)
		return id != "", err
	})
}

// plain is an error in the runtime's own words: the registry's answer is what a user
// looks for.
func plain(err error) error { return errors.New(cri.Message(err)) }

func (m *Manager) event(r Request, eventType, reason, message string) {
	m.cfg.Recorder.Record(r.Pod, r.FieldPath, eventType, reason, message)
}
