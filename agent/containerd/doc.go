// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package containerd runs a node's own containerd: it writes the configuration
// and the bridge network, starts the daemon, restarts it when it dies, adopts it
// again when the agent comes back, and removes all that it left behind.
//
// containerd outlives the agent: it has its own session, no death signal, and its
// output goes to a file. A pod's shim outlives containerd in turn, so neither an
// upgrade of the agent nor a crash of containerd touches a running container.
//
// Everything that a node takes from the machine carries the node's id, so several
// nodes share one machine and a clean-up touches only its own:
//
//	<Dir>/config.toml          what containerd was told
//	<Dir>/containerd.log       what it printed (the run before in containerd.log.1)
//	<Dir>/root                 its images and metadata
//	<Dir>/certs.d              registry hosts (hosts.toml per registry)
//	<Dir>/net.d                the CNI network berth-<id>
//	<RunDir>/containerd.sock   CRI and containerd's API
//	<RunDir>/process.json      the running daemon: pid, start time, executable
//	<RunDir>/state             its transient state, network namespaces included
//	<RunDir>/s, <RunDir>/runc  shim sockets and runc's state
//	<RunDir>/ipam              addresses given by host-local
//	bridge br-<id>, iptables rules with the comment berth-<id>, cgroup /berth-<id>
package containerd
