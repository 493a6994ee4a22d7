// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package tokens

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/timestamppb"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/utils/ptr"

	nodepb "github.com/berth-run/berth/proto/berth/node/v1"
)

// server counts the tokens that it gives.
type server struct {
	away  bool
	hangs bool
	asked []*nodepb.PodTokenRequest
}

func (s *server) CreatePodToken(ctx context.Context, r *nodepb.PodTokenRequest, _ ...grpc.CallOption) (*nodepb.PodToken, error) {
	switch {
	case s.hangs:
		<-ctx.Done()
		return nil, ctx.Err()
	case s.away:
		return nil, errors.New("no server")
	}
	s.asked = append(s.asked, r)
	return &nodepb.PodToken{
		Token:      fmt.Sprintf("%s-%s-%d", r.GetUid(), r.GetAudience(), len(s.asked)),
		Expiration: timestamppb.New(time.Now().Add(time.Duration(r.GetExpirationSeconds()) * time.Second)),
	}, nil
}

func pod(uid string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "web", UID: types.UID(uid)}}
}

func source(audience string, life time.Duration) *corev1.ServiceAccountTokenProjection {
	return &corev1.ServiceAccountTokenProjection{Audience: audience, ExpirationSeconds: ptr.To(int64(life.Seconds()))}
}

// want checks which token the manager has now.
func want(t *testing.T, m *Manager, uid string, s *corev1.ServiceAccountTokenProjection, token string) {
	t.Helper()
	if got, err := m.Token(t.Context(), pod(uid), s); err != nil || got != token {
		t.Errorf("token %q, %v; want %q", got, err, token)
	}
}

func newManager(s *server) *Manager { return New(s, "n1", slog.New(slog.DiscardHandler)) }

func TestATokenIsKeptUntilFourFifthsOfItsLifeOrADay(t *testing.T) {
	for _, tc := range []struct{ life, due time.Duration }{
		{10 * time.Minute, 8 * time.Minute},
		{time.Hour, 48 * time.Minute},
		{1000 * time.Hour, 24 * time.Hour},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := &server{}
			m := newManager(s)
			want(t, m, "u", source("a", tc.life), "u-a-1")
			time.Sleep(tc.due - time.Second)
			want(t, m, "u", source("a", tc.life), "u-a-1")
			time.Sleep(time.Second)
			want(t, m, "u", source("a", tc.life), "u-a-2")
			if r := s.asked[0]; r.GetNode() != "n1" || r.GetNamespace() != "ns" || r.GetPod() != "web" || r.GetUid() != "u" {
				t.Errorf("asked for %v", r)
			}
		})
	}
}

func TestTokensOfPodsAndAudiencesAreApart(t *testing.T) {
	s := &server{}
	m := newManager(s)
	want(t, m, "u", source("a", time.Hour), "u-a-1")
	want(t, m, "u", source("b", time.Hour), "u-b-2")
	want(t, m, "v", source("a", time.Hour), "v-a-3")
	m.RemoveOrphans(sets.New[types.UID]("v"))
	want(t, m, "v", source("a", time.Hour), "v-a-3")
	want(t, m, "u", source("a", time.Hour), "u-a-4")
}

func TestAServerThatIsAwayLeavesTheTokenUntilItExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{}
		m := newManager(s)
		want(t, m, "u", source("a", time.Hour), "u-a-1")
		s.away = true
		time.Sleep(59 * time.Minute)
		want(t, m, "u", source("a", time.Hour), "u-a-1")
		time.Sleep(time.Minute)
		_, err := m.Token(t.Context(), pod("u"), source("a", time.Hour))
		if err == nil || !strings.Contains(err.Error(), `token of service account "default": no server`) {
			t.Errorf("got %v", err)
		}
		s.away = false
		want(t, m, "u", source("a", time.Hour), "u-a-2")
	})
}

func TestAServerThatHangsIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		_, err := newManager(&server{hangs: true}).Token(t.Context(), pod("u"), source("a", time.Hour))
		if err == nil || time.Since(began) != callTimeout {
			t.Errorf("%v after %s", err, time.Since(began))
		}
	})
}
