// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-run/berth/api"
)

func TestOrder(t *testing.T) {
	node := func(name string, generation int64, minute int, memory string) api.Object {
		n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{
			Name: name, Generation: generation, CreationTimestamp: metav1.Date(2026, 1, 1, 0, minute, 0, 0, time.UTC)}}
		if memory != "" {
			n.Status.Capacity = corev1.ResourceList{"memory": resource.MustParse(memory)}
		}
		return n
	}
	for expression, want := range map[string]string{
		".metadata.name":             "a b c d",
		"metadata.creationTimestamp": "d c b a",
		"{.metadata.generation}":     "b d c a",
		".status.capacity.memory":    "d c b a", // as amounts, what has none first
		".metadata.none":             "",
		".metadata[":                 "",
	} {
		items := []api.Object{node("c", 10, 2, "900Mi"), node("a", 11, 4, "2Gi"), node("b", 2, 3, "1000Mi"), node("d", 9, 1, "")}
		o, err := parseOrder(expression)
		if err == nil {
			err = o.sort(api.Nodes, items)
		}
		var names []string
		for _, obj := range items {
			names = append(names, obj.GetName())
		}
		if got := strings.Join(names, " "); (err == nil) != (want != "") || err == nil && got != want {
			t.Errorf("%s: %s, %v; want %q", expression, got, err, want)
		}
	}
}

func TestNothingIsInAnyOrder(t *testing.T) {
	o, err := parseOrder(".metadata.none")
	if err != nil {
		t.Fatal(err)
	}
	if err := o.sort(api.Nodes, nil); err != nil {
		t.Error(err)
	}
}
