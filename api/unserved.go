// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package api

// unserved is a subresource of Kubernetes that clients ask for and berth does not
// serve.
type unserved struct {
	kind *Kind
	name string
	// instead says what berth lacks, and what to do in its place.
	instead string
}

var unservedSubresources = []unserved{
	{Pods, "exec", "berth does not run commands in containers. " +
		"Run them in a container of the pod's own, and read what they print from its log"},
	{Pods, "attach", "berth does not attach to containers. Read what they print from their logs"},
	{Pods, "portforward", "berth does not forward ports. " + adviseAddress},
	{Pods, "proxy", "berth is no proxy to pods. " + adviseAddress},
	{Pods, "eviction", "berth has no evictions. Delete the pod, which gives it the same time to end"},
	{Nodes, "proxy", "berth is no proxy to nodes. Read the logs of pods, and the agent's own on the node"},
}

// UnservedSubresource returns what to do instead of asking for that part of an
// object, if berth knows it and does not serve it.
func UnservedSubresource(k *Kind, name string) (instead string, ok bool) {
	for _, s := range unservedSubresources {
		if s.kind == k && s.name == name {
			return s.instead, true
		}
	}
	return "", false
}
