// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"fmt"
	"slices"
)

// AbsentKind is a kind of Kubernetes that clients ask for and berth does not
// have. There are never any objects of it: it lists as empty, and what would
// create one is answered with what to do instead. Its New and NewList are nil.
type AbsentKind struct {
	Kind
	// advice is a sentence that begins with a verb where there is something to do.
	advice string
}

// Instead says what berth is and what to do in place of creating the kind.
func (k *AbsentKind) Instead() string {
	return fmt.Sprintf("berth runs pods by themselves: it has no %s. %s", k.Resource, k.advice)
}

// AbsentKinds are those that kubectl asks for on its own (get all, describe,
// drain, apply --prune), that manifests for Kubernetes often have, and that
// schedulers and other controllers watch.
var AbsentKinds = slices.Concat(
	absent("", "v1", adviseAddress,
		row{"Service", "services", "svc", true, ""},
		row{"Endpoints", "endpoints", "ep", true, ""}),
	absent("discovery.k8s.io", "v1", adviseAddress,
		row{"EndpointSlice", "endpointslices", "", true, ""}),
	absent("networking.k8s.io", "v1", "Run a proxy in a Pod with a hostPort",
		row{"Ingress", "ingresses", "ing", true, ""},
		row{"IngressClass", "ingressclasses", "", false, ""},
		row{"NetworkPolicy", "networkpolicies", "netpol", true, "Keep pods apart with the firewall of their node"}),

	absent("apps", "v1", "Create a Pod for each replica; it is restarted where it runs, by its restartPolicy",
		row{"Deployment", "deployments", "deploy", true, ""},
		row{"ReplicaSet", "replicasets", "rs", true, ""},
		row{"StatefulSet", "statefulsets", "sts", true, ""},
		row{"DaemonSet", "daemonsets", "ds", true, "Create a Pod for each node, with its nodeName"},
		row{"ControllerRevision", "controllerrevisions", "", true, "Keep the manifests of earlier Pods, and create the one to go back to"}),
	absent("", "v1", "Create a Pod for each replica; it is restarted where it runs, by its restartPolicy",
		row{"ReplicationController", "replicationcontrollers", "rc", true, ""},
		row{"PodTemplate", "podtemplates", "", true, "Keep the manifest in a file, and create Pods from it"}),
	absent("batch", "v1", "Create a Pod with restartPolicy OnFailure or Never, and wait until its phase is Succeeded",
		row{"Job", "jobs", "", true, ""},
		row{"CronJob", "cronjobs", "cj", true, "Create a Pod with restartPolicy Never each time, from a timer such as cron"}),
	absent("autoscaling", "v2", "Create and delete Pods as the load asks for it",
		row{"HorizontalPodAutoscaler", "horizontalpodautoscalers", "hpa", true, ""}),
	absent("policy", "v1", "Delete at a time as many Pods as may be away",
		row{"PodDisruptionBudget", "poddisruptionbudgets", "pdb", true, ""}),

	absent("", "v1", adviseVolume,
		row{"PersistentVolumeClaim", "persistentvolumeclaims", "pvc", true, ""},
		row{"PersistentVolume", "persistentvolumes", "pv", false, ""}),
	absent("storage.k8s.io", "v1", adviseVolume,
		row{"StorageClass", "storageclasses", "sc", false, ""},
		row{"CSIDriver", "csidrivers", "", false, ""},
		row{"CSINode", "csinodes", "", false, ""},
		row{"CSIStorageCapacity", "csistoragecapacities", "", true, ""},
		row{"VolumeAttachment", "volumeattachments", "", false, ""}),
	absent("resource.k8s.io", "v1", "Leave resourceClaims out of the Pod",
		row{"ResourceClaim", "resourceclaims", "", true, ""},
		row{"ResourceClaimTemplate", "resourceclaimtemplates", "", true, ""},
		row{"ResourceSlice", "resourceslices", "", false, ""},
		row{"DeviceClass", "deviceclasses", "", false, ""}),

	absent("", "v1", "Set requests and limits in the containers of each Pod",
		row{"ResourceQuota", "resourcequotas", "quota", true, ""},
		row{"LimitRange", "limitranges", "limits", true, ""}),
	absent("rbac.authorization.k8s.io", "v1", "Guard the machine of the server: who reaches its address may do everything",
		row{"Role", "roles", "", true, ""},
		row{"RoleBinding", "rolebindings", "", true, ""},
		row{"ClusterRole", "clusterroles", "", false, ""},
		row{"ClusterRoleBinding", "clusterrolebindings", "", false, ""}),
	absent("apiextensions.k8s.io", "v1", "Keep data of your own in a ConfigMap",
		row{"CustomResourceDefinition", "customresourcedefinitions", "crd", false, ""}),
)

const (
	adviseAddress = "Reach a Pod by its status.podIP, or by a hostPort on its node"
	adviseVolume  = "Use a hostPath volume for what has to outlive the Pod, and an emptyDir for what has not"
)

// absentVerbs has create, so that a client which looks first sends what it has
// and gets the advice.
var absentVerbs = []string{"create", "get", "list", "watch"}

// inAll are the resources that Kubernetes counts among those of kubectl get all,
// which is why it shows kinds before names.
var inAll = []string{
	"services", "replicationcontrollers", "deployments", "replicasets", "statefulsets", "daemonsets", "jobs", "cronjobs",
	"horizontalpodautoscalers",
}

// row is a kind in a table of one group. Without advice it has that of the group.
type row struct {
	name, resource, short string
	namespaced            bool
	advice                string
}

func absent(group, version, advice string, rows ...row) []*AbsentKind {
	var out []*AbsentKind
	for _, r := range rows {
		k := &AbsentKind{advice: advice, Kind: Kind{
			Group: group, Version: version, Name: r.name, Resource: r.resource, Namespaced: r.namespaced, Verbs: absentVerbs,
		}}
		if r.short != "" {
			k.ShortNames = []string{r.short}
		}
		if slices.Contains(inAll, r.resource) {
			k.Categories = []string{"all"}
		}
		if r.advice != "" {
			k.advice = r.advice
		}
		out = append(out, k)
	}
	return out
}
