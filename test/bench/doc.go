// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package bench measures berth beside its floor, in turn with it, in one run: pods
// beside the same calls made directly on the same container runtime, the API beside
// a server that commits what it gets and knows nothing of it.
package bench
