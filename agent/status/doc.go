// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package status says how a pod is. Generate makes a whole corev1.PodStatus
// from what the runtime shows; Manager keeps the newest one of each pod until
// the server has acknowledged it.
package status
