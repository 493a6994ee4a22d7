// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package table shows objects as rows, with the columns that kubectl's users
// know. Its functions are pure.
package table

import (
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/duration"
	"k8s.io/utils/ptr"

	"github.com/berth-run/berth/api"
)

// Columns returns the columns of a kind. Those of a priority above 0 are for wide
// output.
func Columns(k *api.Kind) []metav1.TableColumnDefinition { return of(k).columns }

// Row returns the cells of one object of kind k, in the order of its columns. now
// is what ages are reckoned from.
func Row(k *api.Kind, obj api.Object, now time.Time) metav1.TableRow {
	return metav1.TableRow{Cells: of(k).cells(obj, now), Object: runtime.RawExtension{Object: obj}}
}

// layout is how one kind is shown.
type layout struct {
	columns []metav1.TableColumnDefinition
	cells   func(obj api.Object, now time.Time) []any
}

func of(k *api.Kind) layout {
	switch k {
	case api.Pods:
		return pods
	case api.Nodes:
		return nodes
	case api.Namespaces:
		return namespaces
	case api.Secrets:
		return secrets
	case api.ConfigMaps:
		return configMaps
	case api.Events:
		return events
	case api.Leases:
		return leases
	case api.PriorityClasses:
		return priorityClasses
	case api.RuntimeClasses:
		return runtimeClasses
	}
	return others
}

func columns(names ...string) []metav1.TableColumnDefinition {
	out := make([]metav1.TableColumnDefinition, len(names))
	for i, name := range names {
		out[i] = metav1.TableColumnDefinition{Name: name, Type: "string"}
	}
	out[0].Format = "name"
	return out
}

func wide(narrow []metav1.TableColumnDefinition, names ...string) []metav1.TableColumnDefinition {
	for _, name := range names {
		narrow = append(narrow, metav1.TableColumnDefinition{Name: name, Type: "string", Priority: 1})
	}
	return narrow
}

var others = layout{
	columns: columns("Name", "Age"),
	cells: func(obj api.Object, now time.Time) []any {
		return []any{obj.GetName(), age(obj.GetCreationTimestamp(), now)}
	},
}

var namespaces = layout{
	columns: columns("Name", "Status", "Age"),
	cells: func(obj api.Object, now time.Time) []any {
		ns := obj.(*corev1.Namespace)
		return []any{ns.Name, string(ns.Status.Phase), age(ns.CreationTimestamp, now)}
	},
}

var secrets = layout{
	columns: columns("Name", "Type", "Data", "Age"),
	cells: func(obj api.Object, now time.Time) []any {
		s := obj.(*corev1.Secret)
		return []any{s.Name, string(s.Type), len(s.Data), age(s.CreationTimestamp, now)}
	},
}

var configMaps = layout{
	columns: columns("Name", "Data", "Age"),
	cells: func(obj api.Object, now time.Time) []any {
		c := obj.(*corev1.ConfigMap)
		return []any{c.Name, len(c.Data) + len(c.BinaryData), age(c.CreationTimestamp, now)}
	},
}

var leases = layout{
	columns: columns("Name", "Holder", "Age"),
	cells: func(obj api.Object, now time.Time) []any {
		l := obj.(*coordinationv1.Lease)
		return []any{l.Name, ptr.Deref(l.Spec.HolderIdentity, ""), age(l.CreationTimestamp, now)}
	},
}

// age is how long ago t was, in kubectl's short form such as 5m30s.
func age(t metav1.Time, now time.Time) string {
	if t.IsZero() {
		return "<unknown>"
	}
	return duration.HumanDuration(now.Sub(t.Time))
}

func orNone(s string) string {
	if s == "" {
		return "<none>"
	}
	return s
}
