// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package volume

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
)

// Tokens is where the tokens of pods come from.
type Tokens interface {
	// Token returns a token of the pod that is good for a while.
	Token(ctx context.Context, pod *corev1.Pod, source *corev1.ServiceAccountTokenProjection) (string, error)
}

// tokenFile is written anew when the token is: a pod is synced more often than a
// token of the shortest life is due.
func (m *Manager) tokenFile(ctx context.Context, pod *corev1.Pod, s *corev1.ServiceAccountTokenProjection, mode *int32) (payload, error) {
	token, err := m.tokens.Token(ctx, pod, s)
	if err != nil {
		return nil, fmt.Errorf("file %q: %w", s.Path, err)
	}
	out := payload{}
	out.put(s.Path, file{[]byte(token), fileMode(mode)})
	return out, nil
}
