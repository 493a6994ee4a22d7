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
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/berth-run/berth/api"
)

func TestLongListsHaveTheSameJSON(t *testing.T) {
	for _, n := range []int{0, 1, sharedFrom - 1, sharedFrom, sharedFrom + 1, 5*sharedFrom + 3} {
		list := &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "7", Continue: "]}"}, Items: []corev1.Pod{}}
		for i := range n {
			list.Items = append(list.Items, corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("<p", i, ">")}})
		}
		want, err := json.Marshal(list)
		if err != nil {
			t.Fatal(err)
		}
		got, err := marshalJSON(list)
		if diff := cmp.Diff(string(want), string(got)); err != nil || diff != "" {
			t.Errorf("%d items: %v\n%s", n, err, diff)
		}
	}
}

func TestItemsAreTheLastFieldOfEveryList(t *testing.T) {
	lists := []runtime.Object{&metav1.PartialObjectMetadataList{}}
	for _, k := range api.Kinds {
		lists = append(lists, k.NewList())
	}
	for _, list := range lists {
		if _, err := frameOf(list); err != nil {
			t.Error(err)
		}
	}
}
