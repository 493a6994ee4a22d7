// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package bench measures berth beside its floor: the same calls made directly on
// the same container runtime, in turn with berth's, in one run.
package bench
