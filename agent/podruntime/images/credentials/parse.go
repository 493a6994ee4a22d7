// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package credentials

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// parseSecret reads both of Kubernetes' types of pull secret. What it can read
// counts also when it returns an error.
func parseSecret(s *corev1.Secret) ([]entry, error) {
	switch s.Type {
	case corev1.SecretTypeDockerConfigJson:
		return parseConfig(s.Data[corev1.DockerConfigJsonKey])
	case corev1.SecretTypeDockercfg:
		return parseAuths(s.Data[corev1.DockerConfigKey])
	}
	return nil, fmt.Errorf("type %q is not one of a pull secret", s.Type)
}

// errNotJSON stands for the decoder's own error, which may quote the secret.
var errNotJSON = errors.New("its data is not a registry configuration in JSON")

// parseConfig reads the form of a config.json.
func parseConfig(data []byte) ([]entry, error) {
	var config struct {
		Auths json.RawMessage `json:"auths"`
	}
	if json.Unmarshal(data, &config) != nil {
		return nil, errNotJSON
	}
	if config.Auths == nil {
		return nil, nil
	}
	return parseAuths(config.Auths)
}

// auth is the value of one registry in a configuration.
type auth struct {
	Username      string `json:"username"`
	Password      string `json:"password"`
	Auth          string `json:"auth"`
	IdentityToken string `json:"identitytoken"`
	RegistryToken string `json:"registrytoken"`
}

// parseAuths reads the form of a .dockercfg, which is also the inner one of a
// config.json. Registries without a login, as credential helpers leave them behind,
// are left out.
func parseAuths(data []byte) ([]entry, error) {
	var auths map[string]auth
	if json.Unmarshal(data, &auths) != nil {
		return nil, errNotJSON
	}
	var all []entry
	var errs []error
	// The order of a map must not decide which of two is tried first.
	for _, server := range slices.Sorted(maps.Keys(auths)) {
		if auths[server] == (auth{}) {
			continue
		}
		login, err := auths[server].config()
		if err != nil {
			errs = append(errs, fmt.Errorf("registry %q: %w", server, err))
			continue
		}
		all = append(all, entry{pattern: parsePattern(server), auth: login})
	}
	return all, errors.Join(errs...)
}

// config reads a login. The field auth, if there is one, counts for user and password.
func (a auth) config() (*runtimeapi.AuthConfig, error) {
	c := &runtimeapi.AuthConfig{
		Username: a.Username, Password: a.Password,
		IdentityToken: a.IdentityToken, RegistryToken: a.RegistryToken,
	}
	if a.Auth == "" {
		return c, nil
	}
	plain, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(strings.TrimSpace(a.Auth), "="))
	if err != nil {
		return nil, errors.New("auth is not valid base64")
	}
	user, password, ok := strings.Cut(string(plain), ":")
	if !ok {
		return nil, errors.New("auth does not hold user:password")
	}
	c.Username, c.Password = user, strings.TrimRight(password, "\x00")
	return c, nil
}
