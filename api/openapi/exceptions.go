// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package openapi

// The tables of what the comments of Kubernetes' types say beyond the tags, by
// the type's name and the field's in JSON. A test holds them against the sources.
var (
	// mapLists have items with other keys than the tags say.
	mapLists = map[string][]any{
		"Container.ports":                   {"containerPort", "protocol"},
		"EphemeralContainerCommon.ports":    {"containerPort", "protocol"},
		"PodSpec.topologySpreadConstraints": {"topologyKey", "whenUnsatisfiable"},
		"PodStatus.volumeHealth":            {"name"},
		"PodVolumeHealth.healthConditions":  {"status", "reason"},
		"ResourceRequirements.claims":       {"name"},
		"ResourceStatus.resources":          {"resourceID"},
	}
	// setLists have no item twice.
	setLists = set(
		"ContainerRestartRuleOnExitCodes.values",
		"NodeAllocatableResourceClaimStatus.containers",
		"NodePodPreemptionPolicy.disableResizePreemption",
		"VolumeMount.bindMountOptions",
	)
	// atomicLists are replaced whole, although their tags have a key.
	atomicLists = set("PodStatus.hostIPs")
	// atomicMaps are replaced whole.
	atomicMaps = set("PodSpec.nodeSelector", "Scheduling.nodeSelector")
	// atomicTypes are structs that are replaced whole.
	atomicTypes = set(
		"ConfigMapKeySelector", "EvictionResponder", "FileKeySelector", "LabelSelector", "LocalObjectReference",
		"NodeSelector", "NodeSelectorTerm", "ObjectFieldSelector", "ObjectReference", "OwnerReference",
		"ResourceFieldSelector", "SecretKeySelector", "TypedLocalObjectReference",
	)

	// optional fields are always there in Go's JSON and need not be in a client's.
	optional = set(
		"ContainerImage.names",
		"Event.reportingComponent", "Event.reportingInstance",
		"GRPCAction.service",
		"NodeRuntimeHandler.name",
		"PriorityClass.value",
		"ProjectedVolumeSource.sources",
		"TypedLocalObjectReference.apiGroup", "TypedObjectReference.apiGroup",
	)
	// required fields are those that Go's JSON leaves out if they are empty.
	required = set(
		"ContainerRestartRule.action",
		"ContainerRestartRuleOnExitCodes.operator",
		"ImageVolumeStatus.imageRef",
		"PodCertificateProjection.keyType", "PodCertificateProjection.signerName",
	)

	// defaults of what identifies the items of a list.
	defaults = map[string]any{"ContainerPort.protocol": "TCP", "LocalObjectReference.name": ""}
)

func set(names ...string) map[string]bool {
	out := map[string]bool{}
	for _, name := range names {
		out[name] = true
	}
	return out
}
