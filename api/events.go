// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
)

// ServerComponent is the source of the server's own events, but for those of the
// scheduler.
const ServerComponent = "berth-server"

// EventName names an event of the object by a stamp, such as the time in
// nanoseconds: the object's name, as much of it as fits, and the stamp in
// hexadecimal digits.
func EventName(object string, stamp int64) string {
	suffix := fmt.Sprintf(".%x", stamp)
	room := validation.DNS1123SubdomainMaxLength - len(suffix)
	return strings.TrimRight(object[:min(len(object), room)], "-.") + suffix
}

// EventFirstSeen is when an event happened first, by whichever of the two ways its
// recorder has to say so.
func EventFirstSeen(e *corev1.Event) metav1.Time {
	return firstSet(e.FirstTimestamp, metav1.Time(e.EventTime), e.CreationTimestamp)
}

// EventLastSeen is when an event happened last.
func EventLastSeen(e *corev1.Event) metav1.Time {
	var series metav1.Time
	if e.Series != nil {
		series = metav1.Time(e.Series.LastObservedTime)
	}
	return firstSet(series, e.LastTimestamp, EventFirstSeen(e))
}

func firstSet(times ...metav1.Time) metav1.Time {
	for _, t := range times {
		if !t.IsZero() {
			return t
		}
	}
	return metav1.Time{}
}

// EventCount is how often an event happened.
func EventCount(e *corev1.Event) int {
	if e.Series != nil {
		return int(e.Series.Count)
	}
	return max(1, int(e.Count))
}
