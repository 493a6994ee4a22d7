// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"net/http"
	"testing"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// A class of the handler that the node has runs pods; one of another says so.
func TestRuntimeClasses(t *testing.T) {
	w := shared(t)
	for name, handler := range map[string]string{w.ns + "-own": "runc", w.ns + "-absent": "kata"} {
		const path = "/apis/node.k8s.io/v1/runtimeclasses"
		w.post(path, &nodev1.RuntimeClass{
			ObjectMeta: metav1.ObjectMeta{Name: name}, Handler: handler,
			Overhead: &nodev1.Overhead{PodFixed: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("16Mi")}},
		}, nil)
		t.Cleanup(func() { _, _ = w.Do(context.Background(), http.MethodDelete, path+"/"+name, nil, nil) })
	}
	own := pod("own", shell("c", "echo runs"))
	own.Spec.RuntimeClassName = ptr.To(w.ns + "-own")
	own.Spec.PriorityClassName = "system-node-critical"
	wantLines(t, w.runToEnd(own), "runs")
	spec := w.get("own").Spec
	if ptr.Deref(spec.Priority, 0) != 2000001000 || spec.Overhead.Memory().String() != "16Mi" {
		t.Errorf("priority %v, overhead %v", spec.Priority, spec.Overhead)
	}

	absent := pod("absent", shell("c", "true"))
	absent.Spec.RuntimeClassName = ptr.To(w.ns + "-absent")
	w.create(absent)
	w.waitEvent("absent", `no runtime for "kata" is configured`)
}
