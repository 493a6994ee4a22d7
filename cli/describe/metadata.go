// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package describe

import (
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/berth-run/berth/api"
)

// name shows what an object is called.
func (p *page) name(obj api.Object) {
	p.field("Name", obj.GetName())
	p.given("Namespace", obj.GetNamespace())
}

func (p *page) labels(obj api.Object) {
	p.list("Labels", pairs(obj.GetLabels(), "="))
	annotations := maps.Clone(obj.GetAnnotations())
	// It repeats the object, a Secret's values included.
	delete(annotations, corev1.LastAppliedConfigAnnotation)
	p.list("Annotations", pairs(annotations, ": "))
}

// pairs are the entries of a map in the order of their keys.
func pairs(m map[string]string, between string) []string {
	var out []string
	for _, key := range slices.Sorted(maps.Keys(m)) {
		out = append(out, key+between+m[key])
	}
	return out
}

// owner shows which object is the controller of this one.
func (p *page) owner(obj api.Object) {
	if c := metav1.GetControllerOfNoCopy(obj); c != nil {
		p.field("Controlled By", c.Kind+"/"+c.Name)
	}
}

// moment is a time and how long ago it was.
func moment(t metav1.Time, now time.Time) string {
	if t.IsZero() {
		return "<unknown>"
	}
	return t.Format(time.RFC1123Z) + " (" + age(t, now) + " ago)"
}

func age(t metav1.Time, now time.Time) string {
	if t.IsZero() {
		return "<unknown>"
	}
	return duration.HumanDuration(now.Sub(t.Time))
}
