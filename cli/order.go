// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/client-go/util/jsonpath"

	"github.com/berth-run/berth/api"
)

// sort puts objects in the order that was asked for, events else in that of time.
func (f *getFlags) sort(k *api.Kind, items []api.Object) error {
	switch {
	case f.order != nil:
		return f.order.sort(k, items)
	case k == api.Events:
		byTime(items)
	}
	return nil
}

// byTime sorts events by when they happened last, the newest at the end.
func byTime(events []api.Object) {
	slices.SortStableFunc(events, func(a, b api.Object) int {
		return api.EventLastSeen(a.(*corev1.Event)).Compare(api.EventLastSeen(b.(*corev1.Event)).Time)
	})
}

// order is that of objects by what a JSONPath expression finds in each.
type order struct {
	expression string
	parsed     *jsonpath.JSONPath
}

// parseOrder reads an expression, which may lack its braces and its first dot.
func parseOrder(expression string) (*order, error) {
	text := expression
	if !strings.HasPrefix(text, "{") {
		text = "{." + strings.TrimPrefix(text, ".") + "}"
	}
	o := &order{expression, jsonpath.New("sort").AllowMissingKeys(true)}
	if err := o.parsed.Parse(text); err != nil {
		return nil, fmt.Errorf("%q: %w", expression, err)
	}
	return o, nil
}

// sort puts objects in order, those in which nothing is found first. If that are all,
// the expression is hardly what was meant.
func (o *order) sort(k *api.Kind, items []api.Object) error {
	keys := make(map[api.Object]sortKey, len(items))
	found := len(items) == 0
	for _, obj := range items {
		key, err := o.key(k, obj)
		if err != nil {
			return fmt.Errorf("--sort-by %q: %w", o.expression, err)
		}
		keys[obj] = key
		found = found || key.rank != rankMissing
	}
	if !found {
		return fmt.Errorf("--sort-by %q: finds nothing in any of the %s", o.expression, k.Resource)
	}
	slices.SortStableFunc(items, func(a, b api.Object) int { return keys[a].compare(keys[b]) })
	return nil
}

func (o *order) key(k *api.Kind, obj api.Object) (sortKey, error) {
	content, err := contentOf(k, obj)
	if err != nil {
		return sortKey{}, err
	}
	results, err := o.parsed.FindResults(content)
	if err != nil {
		return sortKey{}, err
	}
	for _, values := range results {
		if len(values) > 0 && values[0].IsValid() && values[0].CanInterface() {
			return newSortKey(values[0].Interface()), nil
		}
	}
	return sortKey{}, nil
}

// sortKey compares values of any types: nothing, numbers and quantities, texts.
type sortKey struct {
	rank   int
	number float64
	text   string
}

const (
	rankMissing = iota
	rankNumber
	rankText
)

func newSortKey(value any) sortKey {
	if value == nil {
		return sortKey{}
	}
	text := fmt.Sprint(value)
	if q, err := resource.ParseQuantity(text); err == nil {
		return sortKey{rankNumber, q.AsApproximateFloat64(), text}
	}
	return sortKey{rankText, 0, text}
}

func (k sortKey) compare(other sortKey) int {
	return cmp.Or(cmp.Compare(k.rank, other.rank), cmp.Compare(k.number, other.number), strings.Compare(k.text, other.text))
}
