// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package credentials

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// entry is one login of a configuration.
type entry struct {
	pattern pattern
	auth    *runtimeapi.AuthConfig
	secret  *Secret
}

// Lookup returns the logins for an image in the order in which they are to be tried:
// those of the secrets before the node's, the most specific first, each once. The
// error names each configuration that cannot be read; what the others hold counts
// all the same.
func Lookup(image Image, secrets []corev1.Secret, node *NodeFile) ([]Credential, error) {
	of, secretErr := entriesOf(secrets)
	own, nodeErr := node.entries()
	all := append(matching(of, image), matching(own, image)...)
	return once(all), errors.Join(secretErr, nodeErr)
}

func entriesOf(secrets []corev1.Secret) ([]entry, error) {
	var all []entry
	var errs []error
	for i := range secrets {
		s := &secrets[i]
		found, err := parseSecret(s)
		if err != nil {
			errs = append(errs, fmt.Errorf("pull secret %s/%s: %w", s.Namespace, s.Name, err))
		}
		for _, e := range found {
			e.secret = &Secret{UID: s.UID, Namespace: s.Namespace, Name: s.Name}
			all = append(all, e)
		}
	}
	return all, errors.Join(errs...)
}

// matching returns the entries for the image: long paths before short ones, names
// before patterns of names, and else in their own order.
func matching(all []entry, image Image) []entry {
	found := slices.DeleteFunc(slices.Clone(all), func(e entry) bool { return !e.pattern.matches(image) })
	slices.SortStableFunc(found, func(a, b entry) int {
		return cmp.Or(cmp.Compare(len(b.pattern.path), len(a.pattern.path)), cmp.Compare(b.pattern.host, a.pattern.host))
	})
	return found
}

func once(entries []entry) []Credential {
	var all []Credential
	seen := map[string]bool{}
	for _, e := range entries {
		c := Credential{Auth: e.auth, Secret: e.secret}
		if hash := c.Hash(); !seen[hash] {
			seen[hash] = true
			all = append(all, c)
		}
	}
	return all
}
