// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

func priorityClass(name string, value int32) *schedulingv1.PriorityClass {
	return &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: name, ResourceVersion: "1"}, Value: value}
}

func runtimeClass(handler string) *nodev1.RuntimeClass {
	return &nodev1.RuntimeClass{ObjectMeta: metav1.ObjectMeta{Name: "rc", ResourceVersion: "1"}, Handler: handler}
}

func TestValidateClasses(t *testing.T) {
	never := priorityClass("low", 1)
	never.PreemptionPolicy = ptr.To(corev1.PreemptionPolicy("Sometimes"))
	owned := priorityClass("system-node-critical", CriticalPriority+1000)
	owned.GlobalDefault = true
	overhead := runtimeClass("runc")
	overhead.Overhead = &nodev1.Overhead{PodFixed: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("-1")}}
	selector := runtimeClass("runc")
	selector.Scheduling = &nodev1.Scheduling{NodeSelector: map[string]string{"a b": "c"}}
	for name, tt := range map[string]struct {
		kind        *Kind
		obj         Object
		path, words string // empty: valid
	}{
		"priority":               {PriorityClasses, priorityClass("high", MaxUserPriority), "", ""},
		"below nothing":          {PriorityClasses, priorityClass("low", -5), "", ""},
		"the system's":           {PriorityClasses, priorityClass("system-cluster-critical", CriticalPriority), "", ""},
		"too high":               {PriorityClasses, priorityClass("high", MaxUserPriority+1), "value", "maximum allowed value of a user defined priority is 1000000000"},
		"a name of the system's": {PriorityClasses, priorityClass("system-own", 1), "metadata.name", "priority class names with 'system-' prefix are reserved for system use only"},
		"another value":          {PriorityClasses, priorityClass("system-node-critical", 1), "metadata.name", "reserved for system use only"},
		"the default":            {PriorityClasses, owned, "metadata.name", "reserved for system use only"},
		"policy":                 {PriorityClasses, never, "preemptionPolicy", "Unsupported value"},
		"runtime":                {RuntimeClasses, runtimeClass("runc"), "", ""},
		"no handler":             {RuntimeClasses, runtimeClass(""), "handler", "Required value"},
		"handler":                {RuntimeClasses, runtimeClass("A b"), "handler", "RFC 1123 label"},
		"overhead":               {RuntimeClasses, overhead, "overhead.podFixed[memory]", "greater than or equal to 0"},
		"node selector":          {RuntimeClasses, selector, "scheduling.nodeSelector", "Invalid value"},
	} {
		t.Run(name, func(t *testing.T) {
			errs := ValidateCreate(tt.kind, tt.obj)
			if tt.path == "" && len(errs) > 0 || tt.path != "" && (len(errs) != 1 || errs[0].Field != tt.path || !strings.Contains(errs[0].Error(), tt.words)) {
				t.Errorf("got %v, want %s with %q", errs, tt.path, tt.words)
			}
		})
	}
}

func TestClassesKeepWhatPodsHaveOfThem(t *testing.T) {
	for name, tt := range map[string]struct {
		kind     *Kind
		obj, old Object
		path     string
	}{
		"value":   {PriorityClasses, priorityClass("a", 2), priorityClass("a", 1), "value"},
		"same":    {PriorityClasses, priorityClass("a", 1), priorityClass("a", 1), ""},
		"handler": {RuntimeClasses, runtimeClass("b"), runtimeClass("a"), "handler"},
	} {
		errs := ValidateUpdate(tt.kind, tt.obj, tt.old)
		if (len(errs) > 0) != (tt.path != "") || len(errs) > 0 && errs[0].Field != tt.path {
			t.Errorf("%s: got %v, want %q", name, errs, tt.path)
		}
	}
}

func TestClassesOfPods(t *testing.T) {
	testRefused(t, map[string]refused{
		"priority class": {ofSpec(func(s *corev1.PodSpec) { s.PriorityClassName = "A" }), "spec.priorityClassName", "RFC 1123 subdomain"},
		"runtime class":  {ofSpec(func(s *corev1.PodSpec) { s.RuntimeClassName = ptr.To("") }), "spec.runtimeClassName", "RFC 1123 subdomain"},
		"policy":         {ofSpec(func(s *corev1.PodSpec) { s.PreemptionPolicy = ptr.To(corev1.PreemptionPolicy("x")) }), "spec.preemptionPolicy", "Unsupported value"},
		"overhead": {ofSpec(func(s *corev1.PodSpec) {
			s.Overhead = corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("-1")}
		}), "spec.overhead[memory]", "greater than or equal to 0"},
	})
}

func TestRuntimeClassesAreReferred(t *testing.T) {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop"}, Spec: corev1.PodSpec{RuntimeClassName: ptr.To("rc")}}
	if _, ok := References(pod)[Reference{Kind: RuntimeClasses, Name: "rc"}]; !ok {
		t.Errorf("references: %v", References(pod))
	}
}
