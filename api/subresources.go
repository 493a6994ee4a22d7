// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package api

// Subresource is a part of an object that has a path of its own below it.
type Subresource struct {
	Name string
	// Kind is what travels there, a kind of the core group.
	Kind string
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
			Subresource{Name: "log", Kind: k.Name, Verbs: []string{"get"}})
	}
	return out
}
