// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package images

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// credential is one entry of a pull secret.
type credential struct {
	// host of a registry, perhaps with a port or with * for parts of its name.
	host string
	// prefix of the repository; empty for all of the registry.
	prefix string
	auth   *runtimeapi.AuthConfig
}

// credentialsFor returns what the secrets hold for the image's registry, the most
// specific first, and an error that names each secret that cannot be read. The
// other secrets count all the same.
func credentialsFor(ref reference, secrets []corev1.Secret) ([]*runtimeapi.AuthConfig, error) {
	var all []credential
	var errs []error
	for i := range secrets {
		found, err := parseSecret(&secrets[i])
		if err != nil {
			errs = append(errs, fmt.Errorf("pull secret %s/%s: %w", secrets[i].Namespace, secrets[i].Name, err))
		}
		all = append(all, found...)
	}
	all = slices.DeleteFunc(all, func(c credential) bool { return !c.matches(ref) })
	slices.SortStableFunc(all, func(a, b credential) int { return cmp.Compare(len(b.prefix), len(a.prefix)) })
	var auths []*runtimeapi.AuthConfig
	for _, c := range all {
		auths = append(auths, c.auth)
	}
	return auths, errors.Join(errs...)
}

// parseSecret reads both of Kubernetes' types of pull secret.
func parseSecret(s *corev1.Secret) ([]credential, error) {
	switch s.Type {
	case corev1.SecretTypeDockerConfigJson:
		var file struct {
			Auths map[string]authEntry `json:"auths"`
		}
		if json.Unmarshal(s.Data[corev1.DockerConfigJsonKey], &file) != nil {
			return nil, errNotJSON
		}
		return credentialsOf(file.Auths)
	case corev1.SecretTypeDockercfg:
		var entries map[string]authEntry
		if json.Unmarshal(s.Data[corev1.DockerConfigKey], &entries) != nil {
			return nil, errNotJSON
		}
		return credentialsOf(entries)
	}
	return nil, fmt.Errorf("type %q is not one of a pull secret", s.Type)
}

// errNotJSON stands for the decoder's own error, which may quote the secret.
var errNotJSON = errors.New("its data is not a registry configuration in JSON")

// authEntry is the value of one registry in a Docker configuration.
type authEntry struct {
	Username      string `json:"username"`
	Password      string `json:"password"`
	Auth          string `json:"auth"`
	IdentityToken string `json:"identitytoken"`
	RegistryToken string `json:"registrytoken"`
}

func credentialsOf(entries map[string]authEntry) ([]credential, error) {
	var all []credential
	var errs []error
	for server, e := range entries {
		auth, err := e.authConfig()
		if err != nil {
			errs = append(errs, fmt.Errorf("registry %q: %w", server, err))
			continue
		}
		host, prefix := splitServer(server)
		all = append(all, credential{host: host, prefix: prefix, auth: auth})
	}
	// Of equal rank, the order of the map must not decide which is tried first.
	slices.SortFunc(all, func(a, b credential) int {
		return cmp.Or(cmp.Compare(a.host, b.host), cmp.Compare(a.prefix, b.prefix))
	})
	return all, errors.Join(errs...)
}

func (e authEntry) authConfig() (*runtimeapi.AuthConfig, error) {
	a := &runtimeapi.AuthConfig{
		Username: e.Username, Password: e.Password,
		IdentityToken: e.IdentityToken, RegistryToken: e.RegistryToken,
	}
	if e.Auth == "" || a.Username != "" {
		return a, nil
	}
	plain, err := base64.StdEncoding.DecodeString(e.Auth)
	if err != nil {
		return nil, errors.New("auth is not valid base64")
	}
	user, password, ok := strings.Cut(string(plain), ":")
	if !ok {
		return nil, errors.New("auth does not hold user:password")
	}
	a.Username, a.Password = user, strings.TrimRight(password, "\x00")
	return a, nil
}

// splitServer takes the key of an entry apart: a host, host/path, or a URL such as
// https://index.docker.io/v1/, whose version is no part of a repository.
func splitServer(server string) (host, prefix string) {
	if _, rest, found := strings.Cut(server, "://"); found {
		server = rest
	}
	host, prefix, _ = strings.Cut(server, "/")
	prefix = strings.Trim(prefix, "/")
	if prefix == "v1" || prefix == "v2" {
		prefix = ""
	}
	return host, prefix
}

func (c credential) matches(ref reference) bool {
	if !sameHost(c.host, ref.registry) {
		return false
	}
	return c.prefix == "" || ref.repository == c.prefix || strings.HasPrefix(ref.repository, c.prefix+"/")
}

// sameHost matches name by name, so that * never stands for a dot.
func sameHost(pattern, host string) bool {
	if isDockerHub(pattern) && isDockerHub(host) {
		return true
	}
	patterns, names := strings.Split(pattern, "."), strings.Split(host, ".")
	if len(patterns) != len(names) {
		return false
	}
	for i := range patterns {
		if ok, err := path.Match(patterns[i], names[i]); err != nil || !ok {
			return false
		}
	}
	return true
}

func isDockerHub(host string) bool {
	return host == "docker.io" || host == "index.docker.io" || host == "registry-1.docker.io"
}
