// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import corev1 "k8s.io/api/core/v1"

func defaultLifecycle(l *corev1.Lifecycle) {
	if l == nil {
		return
	}
	for _, hook := range []*corev1.LifecycleHandler{l.PostStart, l.PreStop} {
		if hook != nil {
			defaultHTTPGet(hook.HTTPGet)
		}
	}
}

func defaultHTTPGet(get *corev1.HTTPGetAction) {
	if get == nil {
		return
	}
	setDefault(&get.Path, "/")
	setDefault(&get.Scheme, corev1.URISchemeHTTP)
}
