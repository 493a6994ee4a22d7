// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podruntime

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

const (
	// maxLabel is how long a name without a domain may be.
	maxLabel = 63
	// maxHostname is how long the kernel lets a host's name be.
	maxHostname = 64
)

// podHostname is the name that the pod has itself, and the domain that it is in;
// there is no domain without a subdomain.
func podHostname(pod *corev1.Pod, clusterDomain string) (name, domain string) {
	if own := ptr.Deref(pod.Spec.HostnameOverride, ""); own != "" {
		return own, ""
	}
	if name = pod.Spec.Hostname; name == "" {
		name = pod.Name
	}
	if len(name) > maxLabel {
		name = strings.TrimRight(name[:maxLabel], "-.")
	}
	if pod.Spec.Subdomain != "" {
		domain = pod.Spec.Subdomain + "." + pod.Namespace + ".svc." + clusterDomain
	}
	return name, domain
}

// kernelHostname is what the pod's kernel says: the name, with its domain if the pod
// asks for that.
func kernelHostname(pod *corev1.Pod, clusterDomain string) (string, error) {
	name, domain := podHostname(pod, clusterDomain)
	if domain == "" || !ptr.Deref(pod.Spec.SetHostnameAsFQDN, false) {
		return name, nil
	}
	fqdn := name + "." + domain
	if len(fqdn) > maxHostname {
		return "", fmt.Errorf("failed to construct FQDN from Pod hostname and cluster domain, FQDN %s is too long (%d characters is the max, %d characters requested)",
			fqdn, maxHostname, len(fqdn))
	}
	return fqdn, nil
}
