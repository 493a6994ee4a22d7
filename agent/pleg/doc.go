// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package pleg is the pod lifecycle event generator: it tells the sync loop what
// happened to pods in the runtime, and the pod workers how their pod is.
//
// Events of the runtime are hints. One may be lost, doubled or late, and what it says
// is not believed: it puts a UID into the set of pods to read, unless the newest
// reading shows as much. A listing of everything (relist) finds what no hint told.
//
//	WatchEvents ─┐ hint
//	relist ──────┼─────► queue of UIDs ──► readers ──► cache ──► GetNewerThan, Pods
//	Request ─────┘        (a set)       (PodStatus)     │ difference to the former reading
//	                         ▲                          └► outbox ──► Events
//	                        Hold
//
// All readings of pods are made here. Those of one pod never overlap, and who needs
// one joins one that is new enough. A pod that is being worked on is held: it is read
// once, when that is done.
package pleg
