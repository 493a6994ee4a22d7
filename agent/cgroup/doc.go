// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package cgroup keeps the cgroups above a pod's containers: the node's root, one
// group per quality-of-service class below it, one per pod below that. The runtime
// makes the containers' own below the pod's.
//
//	/berth-<id>                           shares of the machine's CPUs
//	/berth-<id>/pod<uid>                  Guaranteed
//	/berth-<id>/burstable/pod<uid>        Burstable; shares are the sum of requests
//	/berth-<id>/besteffort/pod<uid>       BestEffort; the fewest shares there are
//
// Names and figures are the kubelet's. Files are written by
// github.com/opencontainers/cgroups, with the cgroupfs driver; New refuses a runtime
// with the systemd driver, whose cgroups would not be below these.
//
// Version 1 (hybrid hierarchies included) and version 2 are both supported. The
// tests run version 1 on real cgroups where the machine has them, and version 2 on a
// plain directory tree; on a machine with version 2 they run that on real cgroups.
package cgroup
