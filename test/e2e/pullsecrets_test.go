// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-run/berth/test/internal/harness"
	"github.com/berth-run/berth/test/internal/testimage"
)

// logins is the configuration of logins for those keys, as .dockercfg has it.
func logins(t *testing.T, user, password string, keys ...string) []byte {
	t.Helper()
	all := map[string]any{}
	for _, key := range keys {
		all[key] = map[string]string{"username": user, "password": password}
	}
	text, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// dockercfg makes a pull secret of the older type.
func (w *world) dockercfg(name, user, password string, keys ...string) {
	w.t.Helper()
	w.secret(name, corev1.SecretTypeDockercfg, map[string][]byte{corev1.DockerConfigKey: logins(w.t, user, password, keys...)})
}

// dockerconfigjson makes a pull secret of the newer type.
func (w *world) dockerconfigjson(name, user, password string, keys ...string) {
	w.t.Helper()
	text := append(append([]byte(`{"auths":`), logins(w.t, user, password, keys...)...), '}')
	w.secret(name, corev1.SecretTypeDockerConfigJson, map[string][]byte{corev1.DockerConfigJsonKey: text})
}

// privatePod pulls an image with secrets.
func privatePod(name, image string, policy corev1.PullPolicy, secrets ...string) *corev1.Pod {
	c := app("c")
	c.Image, c.ImagePullPolicy = image, policy
	p := pod(name, c)
	for _, s := range secrets {
		p.Spec.ImagePullSecrets = append(p.Spec.ImagePullSecrets, corev1.LocalObjectReference{Name: s})
	}
	return p
}

// refused waits until a container waits because the registry wants a login.
func (w *world) refused(pod, reason string) {
	w.t.Helper()
	w.wait(pod, "is refused by the registry", func(p *corev1.Pod) bool {
		s := container(p, "c").State.Waiting
		return s != nil && s.Reason == reason && strings.Contains(s.Message, "authorization failed: no basic auth credentials")
	})
}

// Secrets of both types, with keys of all forms; one that is missing is named and
// blocks nothing; and those of the account, for a pod that names none.
func TestB078PullSecrets(t *testing.T) {
	w := shared(t)
	host := registry.WithLogin("captain", "anchor")
	w.allow(host)
	const named = "b078.test" // without a port
	for _, n := range w.Nodes {
		if err := testimage.Mirror(n.CertsDir(), named, host); err != nil {
			t.Fatal(err)
		}
	}
	w.variant("b078/app:1")
	w.dockercfg("wrong", "captain", "mast", host)
	w.dockerconfigjson("port", "captain", "anchor", host, "other.test")
	w.dockerconfigjson("port-and-path", "captain", "anchor", "http://"+host+"/v1/b078/")
	w.dockercfg("port-and-path-too", "captain", "anchor", host+"/b078/app")
	w.dockercfg("host", "captain", "anchor", named)
	w.dockerconfigjson("glob-and-path", "captain", "anchor", "https://*.test/b078")
	w.dockercfg("other-path", "captain", "anchor", host+"/b079", host+":1")

	w.create(privatePod("without", host+"/b078/app:1", corev1.PullAlways))
	w.create(privatePod("elsewhere", host+"/b078/app:1", corev1.PullAlways, "other-path"))
	good := map[string]*corev1.Pod{
		"a":       privatePod("a", host+"/b078/app:1", corev1.PullAlways, "nope", "port"),
		"b":       privatePod("b", host+"/b078/app:1", corev1.PullAlways, "wrong", "port-and-path"),
		"c":       privatePod("c", host+"/b078/app:1", corev1.PullAlways, "port-and-path-too"),
		"d":       privatePod("d", named+"/b078/app:1", corev1.PullAlways, "host"),
		"e":       privatePod("e", named+"/b078/app:1", corev1.PullAlways, "glob-and-path"),
		"account": privatePod("account", host+"/b078/app:1", corev1.PullAlways),
	}
	for name, p := range good {
		if name != "account" {
			w.create(p)
		}
	}
	for name := range good {
		if name != "account" {
			w.ready(name)
		}
	}
	if !w.hasEvent("a", "FailedToRetrieveImagePullSecret: Unable to retrieve some image pull secrets (nope)") {
		t.Error("no event names the missing secret")
	}
	w.refused("without", "ImagePullBackOff")
	w.refused("elsewhere", "ImagePullBackOff")

	w.accountHasPullSecret("port")
	if p := w.create(good["account"]); len(p.Spec.ImagePullSecrets) != 1 || p.Spec.ImagePullSecrets[0].Name != "port" {
		t.Errorf("the pod has the secrets %v", p.Spec.ImagePullSecrets)
	}
	w.ready("account")
}

// accountHasPullSecret gives the namespace's default account a pull secret. The
// namespace may be so new that it has no account yet.
func (w *world) accountHasPullSecret(name string) {
	w.t.Helper()
	path := "/api/v1/namespaces/" + w.ns + "/serviceaccounts/default"
	err := harness.Poll(w.ctx(), "the account default has a pull secret", func() (bool, error) {
		account := &corev1.ServiceAccount{}
		if _, err := w.Do(w.ctx(), http.MethodGet, path, nil, account); err != nil {
			return false, nil
		}
		account.ImagePullSecrets = []corev1.LocalObjectReference{{Name: name}}
		_, err := w.Do(w.ctx(), http.MethodPut, path, account, nil)
		return err == nil, nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

// A pod that waits to pull again does so as soon as it gets another login, from its
// secret or from its node, and not when the time has come.
func TestAnotherLoginEndsTheWaitForAPull(t *testing.T) {
	const delay = 10 * time.Second // the first of the back-off
	w := shared(t)
	host := registry.WithLogin("captain", "anchor")
	w.allow(host)
	w.variant("login/app:1")
	w.create(onNode(privatePod("secret", host+"/login/app:1", corev1.PullAlways, "late"), "node1"))
	w.create(onNode(privatePod("node", host+"/login/app:1", corev1.PullAlways), "node2"))
	for _, name := range []string{"secret", "node"} {
		w.refused(name, "ImagePullBackOff")
	}
	w.dockercfg("late", "captain", "anchor", host)
	w.nodeLogins("node2", append(append([]byte(`{"auths":`), logins(t, "captain", "anchor", host)...), '}'))
	given := time.Now()
	for _, name := range []string{"secret", "node"} {
		w.ready(name)
		failed, pulled := w.lastEvent(name, "Failed"), w.lastEvent(name, "Pulled")
		switch {
		case given.Sub(failed) > delay/2:
			t.Logf("%s: the wait was all but over when the login came", name)
		case pulled.Sub(failed) >= delay:
			t.Errorf("%s: pulled %s after the failure, the login had come after %s", name, pulled.Sub(failed), given.Sub(failed))
		}
	}
}

// nodeLogins gives a node logins of its own, until the test ends.
func (w *world) nodeLogins(node string, config []byte) {
	w.t.Helper()
	for _, n := range w.Nodes {
		if n.Name != node {
			continue
		}
		path := filepath.Join(n.StateDir, "config.json")
		if err := os.WriteFile(path, config, 0o600); err != nil {
			w.t.Fatal(err)
		}
		w.t.Cleanup(func() { os.Remove(path) })
	}
}
