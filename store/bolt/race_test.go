// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build race

package bolt

// raceDetector makes everything several times slower.
const raceDetector = true
