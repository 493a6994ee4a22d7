// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import authenticationv1 "k8s.io/api/authentication/v1"

// Subresource is a part of an object that has a path of its own below it.
type Subresource struct {
	Name string
	// Kind is what travels there, of the object's own group and version unless those
	// of the kind's own are set.
	Kind           string
	Group, Version string
	// Verbs in the words of Kubernetes discovery.
	Verbs []string
}

// Subresources of the kind.
func (k *Kind) Subresources() []Subresource {
	var out []Subresource
	if k.Status {
		out = append(out, Subresource{Name: "status", Kind: k.Name, Verbs: []string{"get", "patch", "update"}})
	}
	if k == Pods {
		out = append(out,
			Subresource{Name: "binding", Kind: "Binding", Verbs: []string{"create"}},
			Subresource{Name: "ephemeralcontainers", Kind: k.Name, Verbs: []string{"get", "patch", "update"}},
			Subresource{Name: "log", Kind: k.Name, Verbs: []string{"get"}},
			Subresource{Name: "resize", Kind: k.Name, Verbs: []string{"get", "patch", "update"}})
	}
	if k == ServiceAccounts {
		out = append(out, Subresource{
			Name: "token", Kind: "TokenRequest", Group: authenticationv1.GroupName, Version: "v1", Verbs: []string{"create"},
		})
	}
	return out
}
