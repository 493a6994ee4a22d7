// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package resize says what changing the resources of a running pod takes
// (KEP-1287). A pod's resources are known in three forms:
//
//	desired     what its spec at the server says
//	allocated   what the node has agreed to, and reckons with; all that follows the
//	            sync loop sees this as the pod's spec
//	actual      what the cgroups of its containers have, as the runtime tells
//
// The sync loop moves allocated to desired when there is room, and the runtime moves
// actual to allocated. Nothing is kept on disk: after a restart of the agent,
// allocated follows from what the server holds of the pod's status.
//
// Its functions are pure, but for the Progress that the loop and the status share.
package resize
