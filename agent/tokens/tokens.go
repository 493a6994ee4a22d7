// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package tokens gets the tokens of the node's pods from the server, and keeps each
// until it is time for a new one.
package tokens

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/status"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/berth-run/berth/api"
	nodepb "github.com/berth-run/berth/proto/berth/node/v1"
)

// callTimeout bounds a call to a server that does not answer. Meanwhile only the pod
// whose token it is waits.
const callTimeout = 10 * time.Second

// Issuer is the server: a client of its Node service.
type Issuer interface {
	CreatePodToken(ctx context.Context, r *nodepb.PodTokenRequest, o ...grpc.CallOption) (*nodepb.PodToken, error)
}

// Manager is safe for concurrent use.
type Manager struct {
	issuer Issuer
	node   string
	log    *slog.Logger

	mu     sync.Mutex
	tokens map[types.UID]map[request]token
}

// request is what a pod's volume asks for.
type request struct {
	audience string
	seconds  int64
}

// New returns a Manager of the tokens of the node's pods.
func New(issuer Issuer, node string, log *slog.Logger) *Manager {
	return &Manager{issuer: issuer, node: node, log: log, tokens: map[types.UID]map[request]token{}}
}

// Token returns a token of the pod that is good for a while: the one it has, until a
// new one is due. While the server gives no new one, the old one is good until it
// expires.
func (m *Manager) Token(ctx context.Context, pod *corev1.Pod, source *corev1.ServiceAccountTokenProjection) (string, error) {
	r := request{audience: source.Audience}
	if source.ExpirationSeconds != nil {
		r.seconds = *source.ExpirationSeconds
	}
	now := time.Now()
	have := m.get(pod.UID, r)
	if !have.due(now) {
		return have.text, nil
	}
	fresh, err := m.create(ctx, pod, r, now)
	switch {
	case err == nil:
		m.put(pod.UID, r, fresh)
		return fresh.text, nil
	case have.good(now):
		m.log.Warn("cannot get a new token; the one before is still good", "pod", api.FullName(pod), "until", have.expires, "err", err)
		return have.text, nil
	}
	return "", fmt.Errorf("token of service account %q: %w", api.ServiceAccountOf(pod), err)
}

func (m *Manager) create(ctx context.Context, pod *corev1.Pod, r request, now time.Time) (token, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	t, err := m.issuer.CreatePodToken(ctx, &nodepb.PodTokenRequest{
		Node: m.node, Namespace: pod.Namespace, Pod: pod.Name, Uid: string(pod.UID),
		Audience: r.audience, ExpirationSeconds: r.seconds,
	})
	if err != nil {
		return token{}, errors.New(status.Convert(err).Message())
	}
	return token{text: t.GetToken(), since: now, expires: t.GetExpiration().AsTime()}, nil
}

func (m *Manager) get(uid types.UID, r request) token {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.tokens[uid][r]
}

func (m *Manager) put(uid types.UID, r request, t token) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.tokens[uid] == nil {
		m.tokens[uid] = map[request]token{}
	}
	m.tokens[uid][r] = t
}

// RemoveOrphans drops the tokens of pods that are gone.
func (m *Manager) RemoveOrphans(keep sets.Set[types.UID]) {
	m.mu.Lock()
	defer m.mu.Unlock()
	maps.DeleteFunc(m.tokens, func(uid types.UID, _ map[request]token) bool { return !keep.Has(uid) })
}
