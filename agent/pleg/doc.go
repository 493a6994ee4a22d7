// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package pleg is the pod lifecycle event generator: it tells the sync loop what
// happened to pods in the runtime, and the pod workers how their pod is.
//
// Events of the runtime are hints. What one carries is not looked at, and it may
// be lost, doubled or late: it only puts a UID into the set of pods to read. A
// listing of everything (relist) finds what no hint told.
//
//	WatchEvents ─┐ hint
//	relist ──────┼─────► queue of UIDs ──► readers ──► cache ──► GetNewerThan, Pods
//	Request ─────┘        (a set)       (PodStatus)     │ difference to the former reading
//	                                                     └► outbox ──► Events
package pleg
