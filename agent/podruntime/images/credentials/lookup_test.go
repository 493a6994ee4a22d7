// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package credentials

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func configJSON(json string) corev1.Secret {
	return corev1.Secret{Type: corev1.SecretTypeDockerConfigJson, Data: map[string][]byte{corev1.DockerConfigJsonKey: []byte(json)}}
}

func dockercfg(json string) corev1.Secret {
	return corev1.Secret{Type: corev1.SecretTypeDockercfg, Data: map[string][]byte{corev1.DockerConfigKey: []byte(json)}}
}

// users lists the logins as user:password.
func users(all []Credential) string {
	var out []string
	for _, c := range all {
		out = append(out, c.Auth.GetUsername()+":"+c.Auth.GetPassword())
	}
	return strings.Join(out, " ")
}

func TestLookup(t *testing.T) {
	hub := dockercfg(`{"https://index.docker.io/v1/":{"auth":"dXNlcjpwOnc="}}`) // user:p:w
	many := configJSON(`{"auths":{
		"registry.test":{"username":"all","password":"x"},
		"registry.test/team":{"username":"team","password":"x"},
		"https://registry.test/v2/team/a":{"username":"repository","password":"x"},
		"registry.test/other":{"username":"other","password":"x"},
		"*.wild.test":{"username":"wild","password":"x"},
		"a.wild.test":{"username":"tame","password":"x"},
		"?b.*.test":{"username":"two","password":"x"},
		"ports.test:5000":{"username":"port","password":"x"},
		"*.test:6000":{"username":"anyhost","password":"x"},
		"[::1]:5000":{"username":"six","password":"x"},
		"helped.test":{}}}`)
	for name, tc := range map[string]struct {
		registry, repository string
		secrets              []corev1.Secret
		node                 string
		want, err            string
	}{
		"none":                       {registry: "registry.test", repository: "a"},
		"another registry":           {registry: "other.example", repository: "a", secrets: []corev1.Secret{many}},
		"the most specific first":    {registry: "registry.test", repository: "team/a", secrets: []corev1.Secret{many}, want: "repository:x team:x all:x"},
		"a path is a beginning":      {registry: "registry.test", repository: "teams/a", secrets: []corev1.Secret{many}, want: "team:x all:x"},
		"a name before a wildcard":   {registry: "a.wild.test", repository: "a", secrets: []corev1.Secret{many}, want: "tame:x wild:x"},
		"a wildcard is no dot":       {registry: "a.b.wild.test", repository: "a", secrets: []corev1.Secret{many}},
		"wildcards anywhere":         {registry: "ab.c.test", repository: "a", secrets: []corev1.Secret{many}, want: "two:x"},
		"a port":                     {registry: "ports.test:5000", repository: "a", secrets: []corev1.Secret{many}, want: "port:x"},
		"another port":               {registry: "ports.test:5001", repository: "a", secrets: []corev1.Secret{many}},
		"no port":                    {registry: "ports.test", repository: "a", secrets: []corev1.Secret{many}},
		"a wildcard is no port":      {registry: "a.wild.test:443", repository: "a", secrets: []corev1.Secret{many}},
		"a wildcard with a port":     {registry: "any.test:6000", repository: "a", secrets: []corev1.Secret{many}, want: "anyhost:x"},
		"an IPv6 address":            {registry: "[::1]:5000", repository: "a", secrets: []corev1.Secret{many}, want: "six:x"},
		"an entry without a login":   {registry: "helped.test", repository: "a", secrets: []corev1.Secret{many}},
		"dockercfg, for Docker Hub":  {registry: "index.docker.io", repository: "library/nginx", secrets: []corev1.Secret{many, hub}, want: "user:p:w"},
		"Docker Hub by another name": {registry: "index.docker.io", repository: "library/nginx", secrets: []corev1.Secret{configJSON(`{"auths":{"docker.io":{"username":"u"}}}`)}, want: "u:"},
		"the secrets' order": {registry: "registry.test", repository: "a", want: "first:1 second:2", secrets: []corev1.Secret{
			dockercfg(`{"registry.test":{"username":"first","password":"1"}}`), configJSON(`{"auths":{"registry.test":{"username":"second","password":"2"}}}`)}},
		"the same twice": {registry: "registry.test", repository: "a", want: "u:p", secrets: []corev1.Secret{
			dockercfg(`{"registry.test":{"username":"u","password":"p"}}`), configJSON(`{"auths":{"http://registry.test/":{"auth":"dTpw"}}}`)}},
		"the node's come last": {registry: "registry.test", repository: "team/a", want: "s:1 n:2", secrets: []corev1.Secret{dockercfg(`{"registry.test":{"username":"s","password":"1"}}`)},
			node: `{"auths":{"registry.test/team":{"username":"n","password":"2"}}}`},
		"a node file that is none":  {registry: "registry.test", repository: "a", node: `{"auths": "s3cret"`, err: "not a registry configuration"},
		"a node file without auths": {registry: "registry.test", repository: "a", node: `{"credsStore": "x"}`},
		"one that cannot be read":   {registry: "index.docker.io", repository: "a", secrets: []corev1.Secret{configJSON(`{"auths": "s3cret"`), hub}, want: "user:p:w", err: "not a registry configuration"},
		"one of another type":       {registry: "registry.test", repository: "a", secrets: []corev1.Secret{{Type: corev1.SecretTypeOpaque}}, err: `"Opaque"`},
		"auth without padding":      {registry: "registry.test", repository: "a", secrets: []corev1.Secret{dockercfg(`{"registry.test":{"auth":"dXNlcjpwOnc"}}`)}, want: "user:p:w"},
		"auth before username":      {registry: "registry.test", repository: "a", secrets: []corev1.Secret{dockercfg(`{"registry.test":{"username":"stale","auth":"dXNlcjpwOnc="}}`)}, want: "user:p:w"},
		"auth that is not base64":   {registry: "registry.test", repository: "a", secrets: []corev1.Secret{dockercfg(`{"registry.test":{"auth":"s3cret!"}}`)}, err: "base64"},
		"auth without a separator":  {registry: "registry.test", repository: "a", secrets: []corev1.Secret{dockercfg(`{"registry.test":{"auth":"czNjcmV0"}}`)}, err: "user:password"},
	} {
		file := filepath.Join(t.TempDir(), "config.json")
		if tc.node != "" {
			if err := os.WriteFile(file, []byte(tc.node), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		all, err := Lookup(Image{tc.registry, tc.repository}, tc.secrets, NewNodeFile(file))
		if got := users(all); got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
		if tc.err == "" && err != nil || tc.err != "" && (err == nil || !strings.Contains(err.Error(), tc.err)) {
			t.Errorf("%s: error %v, want %q", name, err, tc.err)
		}
		if err != nil && strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: the error tells the secret: %v", name, err)
		}
	}
}

func TestHashesTellCredentialsApartWithoutTellingThem(t *testing.T) {
	image := Image{"registry.test", "a"}
	of := func(json string) Credential {
		all, err := Lookup(image, []corev1.Secret{dockercfg(json)}, nil)
		if err != nil || len(all) != 1 {
			t.Fatal(all, err)
		}
		return all[0]
	}
	one, other := of(`{"registry.test":{"username":"u","password":"s3cret"}}`), of(`{"registry.test":{"username":"u s3cret"}}`)
	if one.Hash() == other.Hash() || one.Hash() != of(`{"registry.test":{"username":"u","password":"s3cret"}}`).Hash() {
		t.Error("a hash is not that of its login")
	}
	if Fingerprint(nil) != "" || Fingerprint([]Credential{one}) == Fingerprint([]Credential{one, other}) {
		t.Error("a fingerprint is not that of its logins")
	}
	if strings.Contains(one.Hash()+Fingerprint([]Credential{one}), "s3cret") {
		t.Error("the password is told")
	}
}
