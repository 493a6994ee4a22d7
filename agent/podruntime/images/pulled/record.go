// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package pulled remembers with which logins the node's images were pulled, so that
// a pod without such a login cannot use what another pod's brought to the node.
//
// Each image has a record, by the runtime's id of it, and in that one part for each
// repository that it was pulled from: who may pull from one of them need not be able
// to pull from another. An image without a record came to the node by other means,
// such as an archive, and is free for all. A pull that is under way has an intent, so
// that an image whose pull outlived the agent is not taken for such a one.
package pulled

import (
	"slices"

	"github.com/berth-run/berth/agent/podruntime/images/credentials"
)

// record is what is known of one image.
type record struct {
	// Image is the runtime's id of it.
	Image        string            `json:"image"`
	Repositories map[string]access `json:"repositories"`
}

// access says who has proved to be able to pull from a repository.
type access struct {
	// Everyone: the pull needed no login, or one of the node's own.
	Everyone bool    `json:"everyone,omitempty"`
	Logins   []login `json:"logins,omitempty"`
}

// login is one of a pull secret, newest last.
type login struct {
	Secret credentials.Secret `json:"secret"`
	Hash   string             `json:"hash"`
}

// maxLogins bounds a record; with more the oldest has to prove itself again.
const maxLogins = 100

// allows tells whether one of a pod's logins has pulled before: the same login from
// wherever, or the same secret, whatever it holds by now.
func (a access) allows(logins []credentials.Credential) bool {
	if a.Everyone {
		return true
	}
	for _, c := range logins {
		if slices.ContainsFunc(a.Logins, func(l login) bool {
			return l.Hash == c.Hash() || c.Secret != nil && l.Secret == *c.Secret
		}) {
			return true
		}
	}
	return false
}

// with adds the login that a pull was made with; nil for none.
func (a access) with(c *credentials.Credential) access {
	if a.Everyone || c == nil || c.Secret == nil {
		return access{Everyone: true}
	}
	next := login{Secret: *c.Secret, Hash: c.Hash()}
	if slices.Contains(a.Logins, next) {
		return a
	}
	others := slices.DeleteFunc(slices.Clone(a.Logins), func(l login) bool { return l.Secret == next.Secret })
	others = others[max(0, len(others)+1-maxLogins):]
	return access{Logins: append(others, next)}
}

func (a access) equal(b access) bool {
	return a.Everyone == b.Everyone && slices.Equal(a.Logins, b.Logins)
}
