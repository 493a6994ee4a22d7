// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/berth-run/berth/api"
	"github.com/berth-run/berth/store/bolt"
)

func (w *world) list(namespace string, o ListOptions) List {
	w.t.Helper()
	l, err := w.List(context.Background(), api.ConfigMaps, namespace, o)
	if err != nil {
		w.t.Fatal(err)
	}
	return l
}

func namesOf(l List) string {
	var names []string
	for _, item := range l.Items {
		names = append(names, item.GetNamespace()+"/"+item.GetName())
	}
	return strings.Join(names, " ")
}

func newListWorld(t *testing.T) *world {
	w := newWorld(t, bolt.Options{})
	w.create(api.Namespaces, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "team"}})
	for i := range 7 {
		c := configMap("team", fmt.Sprint("c", i), "")
		c.Labels = map[string]string{"odd": fmt.Sprint(i % 2)}
		w.create(api.ConfigMaps, c)
	}
	w.create(api.ConfigMaps, configMap("default", "c9", ""))
	return w
}

func TestListPages(t *testing.T) {
	all := "default/c9 team/c0 team/c1 team/c2 team/c3 team/c4 team/c5 team/c6"
	tests := map[string]struct {
		namespace string
		options   ListOptions
		pages     []string
		remaining int64 // after the first page; 0: not told
	}{
		"whole":     {"", ListOptions{}, []string{all}, 0},
		"all":       {"", ListOptions{Limit: 5}, []string{"default/c9 team/c0 team/c1 team/c2 team/c3", "team/c4 team/c5 team/c6"}, 3},
		"namespace": {"team", ListOptions{Limit: 4}, []string{"team/c0 team/c1 team/c2 team/c3", "team/c4 team/c5 team/c6"}, 3},
		"fits":      {"", ListOptions{Limit: 8}, []string{all}, 0},
		"label":     {"", ListOptions{Limit: 2, LabelSelector: "odd=1"}, []string{"team/c1 team/c3", "team/c5"}, 0},
		"field":     {"", ListOptions{Limit: 1, FieldSelector: "metadata.name=c9"}, []string{"default/c9", ""}, 0},
		"none":      {"", ListOptions{Limit: 1, LabelSelector: "odd=2"}, []string{""}, 0},
		"nowhere":   {"nowhere", ListOptions{}, []string{""}, 0},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := newListWorld(t)
			o, first := tc.options, w.list(tc.namespace, tc.options)
			pages := []string{namesOf(first)}
			for l := first; l.Meta.Continue != ""; pages = append(pages, namesOf(l)) {
				// What comes meanwhile is not of the list.
				w.create(api.ConfigMaps, configMap("team", fmt.Sprint("c5-", len(pages)), ""))
				o.Continue = l.Meta.Continue
				l = w.list(tc.namespace, o)
				if l.Meta.ResourceVersion != first.Meta.ResourceVersion {
					t.Errorf("page %d is of another version", len(pages))
				}
			}
			if !slices.Equal(pages, tc.pages) {
				t.Errorf("got %q, want %q", pages, tc.pages)
			}
			if left := ptr.Deref(first.Meta.RemainingItemCount, 0); left != tc.remaining {
				t.Errorf("%d remain", left)
			}
		})
	}
}

func TestListAtAVersion(t *testing.T) {
	w := newListWorld(t)
	before := w.list("", ListOptions{})
	w.create(api.ConfigMaps, configMap("team", "later", ""))
	at := ListOptions{ResourceVersion: before.Meta.ResourceVersion}
	if got := w.list("", at); len(got.Items) != 9 {
		t.Errorf("not older than: %s", namesOf(got))
	}
	at.ResourceVersionMatch = metav1.ResourceVersionMatchExact
	if got := w.list("", at); namesOf(got) != namesOf(before) {
		t.Errorf("exactly: %s", namesOf(got))
	}
}

func TestListRefuses(t *testing.T) {
	w := newListWorld(t)
	for name, tc := range map[string]struct {
		options ListOptions
		reason  metav1.StatusReason
		words   string
	}{
		"selector":       {ListOptions{FieldSelector: "spec.x=y"}, metav1.StatusReasonBadRequest, "field label not supported: spec.x"},
		"continue":       {ListOptions{Continue: "%"}, metav1.StatusReasonBadRequest, "continue key is not valid"},
		"continue part":  {ListOptions{Continue: "e30"}, metav1.StatusReasonBadRequest, "continue key is not valid"},
		"continue, both": {ListOptions{Continue: continueToken(9, "x"), ResourceVersion: "5"}, metav1.StatusReasonBadRequest, "not allowed"},
		"continue, old":  {ListOptions{Continue: continueToken(9, "x")}, metav1.StatusReasonExpired, "continue parameter is too old"},
		"version":        {ListOptions{ResourceVersion: "x"}, metav1.StatusReasonBadRequest, "resourceVersion: Invalid value"},
		"future":         {ListOptions{ResourceVersion: "9007199254740990"}, metav1.StatusReasonTimeout, "Too large resource version"},
		"exact, old": {ListOptions{ResourceVersion: "9", ResourceVersionMatch: metav1.ResourceVersionMatchExact},
			metav1.StatusReasonExpired, "The resourceVersion 9 is too old"},
		"match": {ListOptions{ResourceVersionMatch: "Roughly"}, metav1.StatusReasonBadRequest, "resourceVersionMatch: Unsupported value"},
	} {
		_, err := w.List(t.Context(), api.ConfigMaps, "", tc.options)
		if wantError(t, err, tc.reason, tc.words); t.Failed() {
			t.Fatalf("in case %s", name)
		}
	}
}
