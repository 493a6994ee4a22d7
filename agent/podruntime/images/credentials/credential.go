// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package credentials finds the logins for an image's registry: in the pull secrets
// of a pod, and in the configuration file of the node. It matches them as the
// kubelet does.
package credentials

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"k8s.io/apimachinery/pkg/types"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// Credential is a login for a registry, and where it was found.
type Credential struct {
	Auth *runtimeapi.AuthConfig
	// Secret is nil for a login of the node.
	Secret *Secret
}

// Secret names the object that a login was found in.
type Secret struct {
	UID       types.UID `json:"uid"`
	Namespace string    `json:"namespace"`
	Name      string    `json:"name"`
}

// String names where the login is from, for users to look there.
func (c Credential) String() string {
	if c.Secret == nil {
		return "the node's credentials"
	}
	return fmt.Sprintf("the pull secret %s/%s", c.Secret.Namespace, c.Secret.Name)
}

// Hash tells logins apart without telling them.
func (c Credential) Hash() string {
	a := c.Auth
	text := fmt.Sprintf("%q %q %q %q", a.GetUsername(), a.GetPassword(), a.GetIdentityToken(), a.GetRegistryToken())
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// Fingerprint tells lists of logins apart. That of none is empty.
func Fingerprint(all []Credential) string {
	if len(all) == 0 {
		return ""
	}
	h := sha256.New()
	for _, c := range all {
		fmt.Fprintln(h, c.Hash())
	}
	return hex.EncodeToString(h.Sum(nil))
}
