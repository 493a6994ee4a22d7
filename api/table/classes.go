// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package table

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/utils/ptr"

	"github.com/berth-run/berth/api"
)

var priorityClasses = layout{
	columns: columns("Name", "Value", "Global-Default", "Age", "PreemptionPolicy"),
	cells: func(obj api.Object, now time.Time) []any {
		c := obj.(*schedulingv1.PriorityClass)
		return []any{c.Name, int64(c.Value), c.GlobalDefault, age(c.CreationTimestamp, now),
			string(ptr.Deref(c.PreemptionPolicy, corev1.PreemptLowerPriority))}
	},
}

var runtimeClasses = layout{
	columns: columns("Name", "Handler", "Age"),
	cells: func(obj api.Object, now time.Time) []any {
		c := obj.(*nodev1.RuntimeClass)
		return []any{c.Name, c.Handler, age(c.CreationTimestamp, now)}
	},
}
