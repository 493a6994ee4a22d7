// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podtypes

import "k8s.io/apimachinery/pkg/types"

// ProbeKind is what a probe is asked for.
type ProbeKind string

// The kinds of probes.
const (
	Liveness  ProbeKind = "Liveness"
	Readiness ProbeKind = "Readiness"
	Startup   ProbeKind = "Startup"
)

// ProbeResult is what a container's probe says, its thresholds reckoned in.
type ProbeResult int

// The results of a probe.
const (
	// ProbeUnknown: it has not said anything yet.
	ProbeUnknown ProbeResult = iota
	ProbeSuccess
	ProbeFailure
)

func (r ProbeResult) String() string {
	return [...]string{"Unknown", "Success", "Failure"}[r]
}

// ProbeUpdate is a change of a probe's result.
type ProbeUpdate struct {
	UID         types.UID
	ContainerID string
	Kind        ProbeKind
	Result      ProbeResult
}
