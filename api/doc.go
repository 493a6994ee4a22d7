// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package api says what an object means: the table of kinds, defaults,
// validation, conversion between the proto messages and the Kubernetes Go
// types, and helpers over pods. Its functions are pure; it does no I/O.
package api
