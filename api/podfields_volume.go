// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package api

// volumeFields are those of a pod's volumes.
func volumeFields() []fieldRule {
	return []fieldRule{
		{path: "volumes[].name"},
		{path: "volumes[].emptyDir.medium"},
		{path: "volumes[].emptyDir.sizeLimit"},
		{path: "volumes[].emptyDir.mode"},
		{path: "volumes[].hostPath.path"},
		{path: "volumes[].hostPath.type"},
		{path: "volumes[].configMap.name"},
		{path: "volumes[].configMap.items"},
		{path: "volumes[].configMap.defaultMode"},
		{path: "volumes[].configMap.optional"},
		{path: "volumes[].secret.secretName"},
		{path: "volumes[].secret.items"},
		{path: "volumes[].secret.defaultMode"},
		{path: "volumes[].secret.optional"},
		{path: "volumes[].downwardAPI.items"},
		{path: "volumes[].downwardAPI.defaultMode"},
		{path: "volumes[].image.reference"},
		{path: "volumes[].image.pullPolicy"},
		{path: "volumes[].projected.defaultMode"},
		{path: "volumes[].projected.sources[].configMap"},
		{path: "volumes[].projected.sources[].secret"},
		{path: "volumes[].projected.sources[].downwardAPI"},
		{path: "volumes[].projected.sources[].serviceAccountToken"},

		{path: "volumes[].projected.sources[].clusterTrustBundle", refuse: "there are no ClusterTrustBundles"},
		{path: "volumes[].projected.sources[].podCertificate", refuse: "there are no signers of pod certificates"},
	}
}
