// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/berth-run/berth/test/internal/harness"
)

// tokenClaims are what a program looks for in a token.
type tokenClaims struct {
	Subject    string   `json:"sub"`
	Audience   []string `json:"aud"`
	IssuedAt   int64    `json:"iat"`
	Expires    int64    `json:"exp"`
	Kubernetes struct {
		Namespace      string
		Pod, Node      metav1.ObjectMeta
		ServiceAccount metav1.ObjectMeta `json:"serviceaccount"`
	} `json:"kubernetes.io"`
}

func claimsOf(t *testing.T, token string) (c tokenClaims) {
	t.Helper()
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		t.Fatalf("not a token: %q", token)
	}
	content, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err == nil {
		err = json.Unmarshal(content, &c)
	}
	if err != nil {
		t.Fatalf("token %q: %v", token, err)
	}
	return c
}

func tokenVolume(audience string, seconds int64) corev1.VolumeSource {
	return corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{
		{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{Audience: audience, ExpirationSeconds: ptr.To(seconds), Path: "token"}},
	}}}
}

func TestAPodHasATokenOfItsServiceAccount(t *testing.T) {
	w := shared(t)
	p := serving("p", map[string]corev1.VolumeSource{"vault": tokenVolume("vault", 600), "own": tokenVolume("", 3600)})
	p.Spec.ServiceAccountName = "robot"
	_, err := w.Do(w.ctx(), http.MethodPost, harness.PodPath(w.ns, ""), p, nil)
	if want := "error looking up service account " + w.ns + `/robot: serviceaccount "robot" not found`; err == nil || !strings.Contains(err.Error(), want) {
		t.Fatalf("got %v, want %s", err, want)
	}

	var account corev1.ServiceAccount
	w.post("/api/v1/namespaces/"+w.ns+"/serviceaccounts", &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "robot"}}, &account)
	w.create(p)
	ready := w.ready("p")
	for volume, want := range map[string]struct {
		audience string
		seconds  int64
	}{"vault": {"vault", 600}, "own": {"https://kubernetes.default.svc.cluster.local", 3600}} {
		c := claimsOf(t, w.page(ready, "/file?path=/"+volume+"/token"))
		if c.Subject != "system:serviceaccount:"+w.ns+":robot" || len(c.Audience) != 1 || c.Audience[0] != want.audience || c.Expires-c.IssuedAt != want.seconds {
			t.Errorf("%s: %+v", volume, c)
		}
		k := c.Kubernetes
		if k.Namespace != w.ns || k.Pod.Name != "p" || k.Pod.UID != ready.UID || k.Node.Name != ready.Spec.NodeName || k.Node.UID == "" ||
			k.ServiceAccount.Name != "robot" || k.ServiceAccount.UID != account.UID {
			t.Errorf("%s: %+v", volume, k)
		}
	}
}
