// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podtypes

import "k8s.io/apimachinery/pkg/types"

// EventType says what happened to a pod in the runtime.
type EventType string

// What can happen to a pod in the runtime.
const (
	ContainerStarted EventType = "ContainerStarted"
	ContainerDied    EventType = "ContainerDied"
	ContainerRemoved EventType = "ContainerRemoved"
	// ContainerChanged: created, or in a state that the runtime does not know.
	ContainerChanged EventType = "ContainerChanged"
	// PodSync: the pod's sandbox is gone or no longer ready.
	PodSync EventType = "PodSync"
)

// Event is one thing that happened to a pod in the runtime.
type Event struct {
	UID  types.UID
	Type EventType
	// ContainerID is empty for PodSync.
	ContainerID string
}

// Hint is what the runtime says by itself of a change. It may be lost, doubled or
// late.
type Hint struct {
	UID types.UID
	// ID is that of the container, or of the sandbox, that has come to State.
	ID    string
	State ContainerState
	// Removed: the runtime does not have it any more.
	Removed bool
}
