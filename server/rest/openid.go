// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package rest

import "net/http"

// keysPath is where Kubernetes shows the keys of ServiceAccount tokens too.
const keysPath = "/openid/v1/jwks"

// addKeys shows the public keys by which others can tell that a token is the
// server's, as a JSON Web Key Set.
func addKeys(plain map[string]http.HandlerFunc, keys any) {
	if keys != nil {
		plain[keysPath] = answerJSON(func() any { return keys })
	}
}
