// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package tokens issues the tokens of ServiceAccounts: JSON Web Tokens with the
// claims that Kubernetes gives them, signed with a key of the server's own. Users
// ask for one of any account, a node for those of the pods that are bound to it.
package tokens
