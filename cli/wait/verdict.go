// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package wait decides whether what is waited for has come, may still come, or
// never will, from one look at an object. Its functions are pure.
package wait

// Outcome is what a look at an object says about what is waited for.
type Outcome int

const (
	// Pending tells that it may still come.
	Pending Outcome = iota
	// Met tells that it is there.
	Met
	// Completed tells that it will not come, because the pod has done its work, or a
	// container of it has that is not started again.
	Completed
	// Failed tells that it will not come, because the pod has failed.
	Failed
	// ImageError tells that it will not come, because an image cannot be had.
	ImageError
	// Gone tells that it will not come, because the object goes.
	Gone
)

// Verdict is an outcome, and in words what was seen that says so.
type Verdict struct {
	Outcome Outcome
	Seen    string
}
