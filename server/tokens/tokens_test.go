// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package tokens

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	"github.com/google/go-cmp/cmp"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/berth-run/berth/api"
)

// objects is a registry of what a test puts there, by kind, namespace and name.
type objects map[string]api.Object

func (o objects) add(k *api.Kind, obj api.Object) {
	o[k.Name+"/"+obj.GetNamespace()+"/"+obj.GetName()] = obj
}

func (o objects) Get(_ context.Context, k *api.Kind, namespace, name string) (api.Object, error) {
	if obj, ok := o[k.Name+"/"+namespace+"/"+name]; ok {
		return obj, nil
	}
	return nil, apierrors.NewNotFound(k.GroupResource(), name)
}

func meta(namespace, name, uid string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: namespace, Name: name, UID: types.UID("uid-" + uid)}
}

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// newTokens has the account robot with a secret and two pods, one of them placed.
func newTokens(t *testing.T) (*Tokens, objects) {
	t.Helper()
	signer, err := LoadSigner(filepath.Join(t.TempDir(), "key"))
	if err != nil {
		t.Fatal(err)
	}
	o := objects{}
	o.add(api.ServiceAccounts, &corev1.ServiceAccount{ObjectMeta: meta("ns", "robot", "sa")})
	o.add(api.ServiceAccounts, &corev1.ServiceAccount{ObjectMeta: meta("ns", "default", "default")})
	o.add(api.Secrets, &corev1.Secret{ObjectMeta: meta("ns", "s", "secret")})
	o.add(api.Nodes, &corev1.Node{ObjectMeta: meta("", "n1", "node")})
	o.add(api.Pods, &corev1.Pod{ObjectMeta: meta("ns", "free", "free"), Spec: corev1.PodSpec{ServiceAccountName: "robot"}})
	o.add(api.Pods, podOn("n1"))
	return New(o, signer, func() time.Time { return noon }), o
}

func podOn(node string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: meta("ns", "web", "pod"), Spec: corev1.PodSpec{
		ServiceAccountName: "robot", NodeName: node,
		Volumes: []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{
			Sources: []corev1.VolumeProjection{
				{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{Audience: "vault", ExpirationSeconds: ptr.To[int64](600), Path: "t"}},
			}}}}},
	}}
}

func asking(change func(*authenticationv1.TokenRequestSpec)) *authenticationv1.TokenRequest {
	r := &authenticationv1.TokenRequest{}
	change(&r.Spec)
	return r
}

// claimsOf checks a token's signature and returns its claims, but for its id, which
// must be there.
func (t *Tokens) claimsOf(tb testing.TB, token string) map[string]any {
	tb.Helper()
	parsed, err := jwt.ParseSigned(token, []jose.SignatureAlgorithm{jose.ES256})
	if err != nil {
		tb.Fatal(err)
	}
	if parsed.Headers[0].KeyID == "" {
		tb.Error("the token does not name its key")
	}
	var raw json.RawMessage
	if err := parsed.Claims(t.signer.PublicKeys().Keys[0], &raw); err != nil {
		tb.Fatal(err)
	}
	claims := map[string]any{}
	if err := json.Unmarshal(raw, &claims); err != nil {
		tb.Fatal(err)
	}
	if claims["jti"] == "" {
		tb.Error("the token has no id")
	}
	delete(claims, "jti")
	return claims
}

func TestClaimsAreThoseOfKubernetes(t *testing.T) {
	tokens, _ := newTokens(t)
	account := map[string]any{"name": "robot", "uid": "uid-sa"}
	to := func(kind, name string) func(*authenticationv1.TokenRequestSpec) {
		return func(s *authenticationv1.TokenRequestSpec) {
			s.BoundObjectRef = &authenticationv1.BoundObjectReference{APIVersion: "v1", Kind: kind, Name: name}
		}
	}
	for name, tc := range map[string]struct {
		ask        func(*authenticationv1.TokenRequestSpec)
		audiences  []any
		lifetime   float64
		kubernetes map[string]any
	}{
		"defaults": {func(*authenticationv1.TokenRequestSpec) {}, []any{Issuer}, 3600,
			map[string]any{"namespace": "ns", "serviceaccount": account}},
		"audiences": {func(s *authenticationv1.TokenRequestSpec) {
			s.Audiences, s.ExpirationSeconds = []string{"a", "b"}, ptr.To[int64](600)
		}, []any{"a", "b"}, 600, map[string]any{"namespace": "ns", "serviceaccount": account}},
		"pod without a node": {to("Pod", "free"), []any{Issuer}, 3600,
			map[string]any{"namespace": "ns", "serviceaccount": account, "pod": map[string]any{"name": "free", "uid": "uid-free"}}},
		"pod": {to("Pod", "web"), []any{Issuer}, 3600,
			map[string]any{"namespace": "ns", "serviceaccount": account, "pod": map[string]any{"name": "web", "uid": "uid-pod"},
				"node": map[string]any{"name": "n1", "uid": "uid-node"}}},
		"secret": {to("Secret", "s"), []any{Issuer}, 3600,
			map[string]any{"namespace": "ns", "serviceaccount": account, "secret": map[string]any{"name": "s", "uid": "uid-secret"}}},
	} {
		t.Run(name, func(t *testing.T) {
			answer, err := tokens.Create(t.Context(), "ns", "robot", asking(tc.ask))
			if err != nil {
				t.Fatal(err)
			}
			iat := float64(noon.Unix())
			want := map[string]any{
				"iss": Issuer, "sub": "system:serviceaccount:ns:robot", "aud": tc.audiences,
				"iat": iat, "nbf": iat, "exp": iat + tc.lifetime, "kubernetes.io": tc.kubernetes,
			}
			if diff := cmp.Diff(want, tokens.claimsOf(t, answer.Status.Token)); diff != "" {
				t.Error(diff)
			}
			if got := answer.Status.ExpirationTimestamp.Sub(noon).Seconds(); got != tc.lifetime {
				t.Errorf("expires after %v s, want %v", got, tc.lifetime)
			}
			if answer.Name != "robot" || answer.Namespace != "ns" || *answer.Spec.ExpirationSeconds != int64(tc.lifetime) {
				t.Errorf("the answer is not completed: %+v", answer)
			}
		})
	}
}

func TestRequestsThatAreRefused(t *testing.T) {
	tokens, _ := newTokens(t)
	bind := func(apiVersion, kind, name string) *authenticationv1.TokenRequest {
		return asking(func(s *authenticationv1.TokenRequestSpec) {
			s.BoundObjectRef = &authenticationv1.BoundObjectReference{APIVersion: apiVersion, Kind: kind, Name: name}
		})
	}
	otherUID := bind("v1", "Pod", "web")
	otherUID.Spec.BoundObjectRef.UID = "other"
	lasting := func(seconds int64) *authenticationv1.TokenRequest {
		return asking(func(s *authenticationv1.TokenRequestSpec) { s.ExpirationSeconds = &seconds })
	}
	for name, tc := range map[string]struct {
		account string
		ask     *authenticationv1.TokenRequest
		reason  metav1.StatusReason
		words   string
	}{
		"no account":  {"none", lasting(600), metav1.StatusReasonNotFound, `serviceaccounts "none" not found`},
		"too short":   {"robot", lasting(599), metav1.StatusReasonInvalid, "spec.expirationSeconds: Invalid value: 599: may not specify a duration less than 10 minutes"},
		"too long":    {"robot", lasting(1<<32 + 1), metav1.StatusReasonInvalid, "may not specify a duration larger than 2^32 seconds"},
		"other name":  {"robot", &authenticationv1.TokenRequest{ObjectMeta: metav1.ObjectMeta{Name: "x"}}, metav1.StatusReasonBadRequest, "does not match"},
		"other space": {"robot", &authenticationv1.TokenRequest{ObjectMeta: metav1.ObjectMeta{Namespace: "x"}}, metav1.StatusReasonBadRequest, "does not match"},
		"other kind":  {"robot", bind("v1", "ConfigMap", "x"), metav1.StatusReasonBadRequest, "cannot bind token to object of type /v1, Kind=ConfigMap"},
		"other group": {"robot", bind("apps/v1", "Pod", "web"), metav1.StatusReasonBadRequest, "cannot bind token to object of type apps/v1, Kind=Pod"},
		"no pod":      {"robot", bind("v1", "Pod", "none"), metav1.StatusReasonNotFound, `pods "none" not found`},
		"no secret":   {"robot", bind("v1", "Secret", "none"), metav1.StatusReasonNotFound, `secrets "none" not found`},
		"account of another": {"default", bind("v1", "Pod", "web"), metav1.StatusReasonBadRequest,
			`cannot bind token for serviceaccount "default" to pod running with different serviceaccount name.`},
		"other uid": {"robot", otherUID, metav1.StatusReasonConflict, "The object might have been deleted and then recreated"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := tokens.Create(t.Context(), "ns", tc.account, tc.ask)
			if apierrors.ReasonForError(err) != tc.reason || !strings.Contains(err.Error(), tc.words) {
				t.Errorf("got %v, want %s: %s", err, tc.reason, tc.words)
			}
		})
	}
}

func TestNodesGetTokensOfTheirPods(t *testing.T) {
	tokens, _ := newTokens(t)
	right := PodRequest{Node: "n1", Namespace: "ns", Pod: "web", UID: "uid-pod", Audience: "vault", ExpirationSeconds: 600}
	status, err := tokens.CreateForPod(t.Context(), right)
	if err != nil {
		t.Fatal(err)
	}
	claims := tokens.claimsOf(t, status.Token)
	if pod := claims["kubernetes.io"].(map[string]any)["pod"]; !cmp.Equal(pod, map[string]any{"name": "web", "uid": "uid-pod"}) {
		t.Errorf("bound to %v", pod)
	}
	for name, tc := range map[string]struct {
		change func(*PodRequest)
		words  string
	}{
		"another node":     {func(r *PodRequest) { r.Node = "n2" }, `it is not bound to node "n2"`},
		"no node":          {func(r *PodRequest) { r.Node = "" }, `it is not bound to node ""`},
		"its predecessor":  {func(r *PodRequest) { r.UID = "old" }, "its UID is uid-pod, not old"},
		"another audience": {func(r *PodRequest) { r.Audience = "" }, `none of its volumes asks for a token of audience "" for 600 seconds`},
		"a longer life":    {func(r *PodRequest) { r.ExpirationSeconds = 6000 }, "for 6000 seconds"},
	} {
		t.Run(name, func(t *testing.T) {
			r := right
			tc.change(&r)
			if _, err := tokens.CreateForPod(t.Context(), r); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), tc.words) {
				t.Errorf("got %v, want Forbidden: %s", err, tc.words)
			}
		})
	}
}

func TestTheKeyIsKeptAndGuarded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key")
	first, err := LoadSigner(path)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v; want mode 0600", info, err)
	}
	again, err := LoadSigner(path)
	if err != nil {
		t.Fatal(err)
	}
	if !cmp.Equal(first.PublicKeys(), again.PublicKeys()) {
		t.Error("another key after a restart")
	}
	if err := os.WriteFile(path, []byte("half of it"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadSigner(path); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("a broken file: %v", err)
	}
	if entries, err := os.ReadDir(filepath.Dir(path)); err != nil || len(entries) != 1 {
		t.Errorf("files left: %v, %v", entries, err)
	}
}
