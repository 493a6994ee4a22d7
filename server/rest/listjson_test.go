// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package rest

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-run/berth/api"
	"github.com/berth-run/berth/server/registry"
)

func TestListsHaveTheJSONOfTheirType(t *testing.T) {
	for n := range 8 {
		list := &registry.List{Meta: metav1.ListMeta{ResourceVersion: "7", Continue: "]}"}}
		for i := range n {
			list.Items = append(list.Items, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("<p", i, ">")}})
		}
		typed, err := typedList(api.Pods, list)
		if err != nil {
			t.Fatal(err)
		}
		want, err := json.Marshal(typed)
		if err != nil {
			t.Fatal(err)
		}
		got, err := marshalList(api.Pods, list)
		if diff := cmp.Diff(string(want)+"\n", string(got)); err != nil || diff != "" {
			t.Errorf("%d items: %v\n%s", n, err, diff)
		}
	}
}

func TestItemsAreTheLastFieldOfEveryList(t *testing.T) {
	for _, k := range api.Kinds {
		if _, err := listFrame(k, &registry.List{}); err != nil {
			t.Errorf("%s: %v", k.Name, err)
		}
	}
}
