// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package prober asks running containers how they are, as often as their probes say.
//
// A Manager has one worker, with a goroutine of its own, for each probe of each
// container that runs. A worker is of one instance of its container: the next
// instance, after a restart, gets new ones.
//
//	SyncPod(pod, reading) ──► workers ──► probe ──► tally ──► results ──► Result
//	                                                             │
//	                                                             └──► Updates ──► sync loop
//
// What an instance's probes have said is kept until the next instance is seen to run,
// or the pod is removed: of one that has ended it says why it was stopped.
package prober
