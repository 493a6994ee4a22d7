// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package podsync takes one pod one step nearer to what it should be: SyncPod
// while it is wanted, SyncTerminatingPod to stop it, SyncTerminatedPod to release
// what it held. The pod workers call them, one at a time for each pod. Every
// step may be repeated: after an error or a restart of the agent the next call
// goes on from what it finds.
package podsync
