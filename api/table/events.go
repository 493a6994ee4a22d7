// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package table

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

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
			last := e.LastTimestamp
			if last.IsZero() {
				last = e.CreationTimestamp
			}
			object := strings.ToLower(e.InvolvedObject.Kind) + "/" + e.InvolvedObject.Name
			return []any{
				age(last, now), e.Type, e.Reason, object, strings.TrimSpace(e.Message),
				e.Source.Component, max(1, int(e.Count)), e.Name,
			}
		},
	}
}()
