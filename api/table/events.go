// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package table

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-run/berth/api"
)

// events are named by when they happened and what about; their own names come
// last, for wide output.
var events = func() layout {
	narrow := columns("Last Seen", "Type", "Reason", "Object", "Message")
	narrow[0].Format = ""
	return layout{
		columns: wide(narrow, "Source", "Count", "Name"),
		cells: func(obj api.Object, now time.Time) []any {
			e := obj.(*corev1.Event)
			object := strings.ToLower(e.InvolvedObject.Kind) + "/" + e.InvolvedObject.Name
			return []any{
				age(LastSeen(e), now), e.Type, e.Reason, object, strings.TrimSpace(e.Message),
				source(e), max(1, int(e.Count)), e.Name,
			}
		},
	}
}()

// LastSeen is when the event happened last.
func LastSeen(e *corev1.Event) metav1.Time {
	if e.LastTimestamp.IsZero() {
		return e.CreationTimestamp
	}
	return e.LastTimestamp
}

// source is who tells of the event, and on which node.
func source(e *corev1.Event) string {
	if e.Source.Host == "" {
		return e.Source.Component
	}
	return e.Source.Component + ", " + e.Source.Host
}
