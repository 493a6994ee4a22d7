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
var events = layout{
	columns: eventColumns(),
	cells: func(obj api.Object, now time.Time) []any {
		e := obj.(*corev1.Event)
		object := strings.ToLower(e.InvolvedObject.Kind) + "/" + e.InvolvedObject.Name
		return []any{
			age(api.EventLastSeen(e), now), e.Type, e.Reason, object, e.InvolvedObject.FieldPath, source(e),
			strings.TrimSpace(e.Message), age(api.EventFirstSeen(e), now), api.EventCount(e), e.Name,
		}
	},
}

func eventColumns() []metav1.TableColumnDefinition {
	all := wide(columns("Last Seen", "Type", "Reason", "Object"), "Subobject", "Source")
	all[0].Format = ""
	all = append(all, metav1.TableColumnDefinition{Name: "Message", Type: "string"})
	all = wide(all, "First Seen", "Count", "Name")
	all[len(all)-1].Format = "name"
	return all
}

// source is who tells of the event, and on which node.
func source(e *corev1.Event) string {
	component, host := e.Source.Component, e.Source.Host
	if component == "" {
		component, host = e.ReportingController, e.ReportingInstance
	}
	if host == "" {
		return component
	}
	return component + ", " + host
}
