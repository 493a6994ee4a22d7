// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package describe

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-run/berth/api"
)

// events shows them with the newest last, where the eye comes to rest. Nil shows not
// even that there are none.
func (p *page) events(list []*corev1.Event, now time.Time) {
	if list == nil {
		return
	}
	sorted := slices.SortedStableFunc(slices.Values(list), func(a, b *corev1.Event) int {
		return api.EventLastSeen(a).Compare(api.EventLastSeen(b).Time)
	})
	var rows [][]string
	for _, e := range sorted {
		rows = append(rows, []string{
			e.Type, e.Reason, frequency(e, now), cmp.Or(e.Source.Component, e.ReportingController), message(e),
		})
	}
	p.table("Events", []string{"Type", "Reason", "Age", "From", "Message"}, rows)
}

// frequency is how long ago an event happened, and how often within which time.
func frequency(e *corev1.Event, now time.Time) string {
	text := age(api.EventLastSeen(e), now)
	if n := api.EventCount(e); n > 1 {
		text += fmt.Sprintf(" (x%d over %s)", n, age(api.EventFirstSeen(e), now))
	}
	return text
}

// message names the container that an event is about before what it says.
func message(e *corev1.Event) string {
	text := strings.TrimSpace(e.Message)
	if e.InvolvedObject.FieldPath != "" {
		text = e.InvolvedObject.FieldPath + ": " + text
	}
	return text
}
