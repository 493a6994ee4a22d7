// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package nodes

import (
	"maps"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestMergeLabels(t *testing.T) {
	type labels = map[string]string
	for name, test := range map[string]struct{ stored, before, now, want labels }{
		"a new node":                     {nil, nil, labels{"a": "1"}, labels{"a": "1"}},
		"nothing new":                    {labels{"a": "1"}, labels{"a": "1"}, labels{"a": "1"}, labels{"a": "1"}},
		"a user's label":                 {labels{"u": "1"}, nil, nil, labels{"u": "1"}},
		"a user removed the agent's":     {labels{}, labels{"a": "1"}, labels{"a": "1"}, labels{}},
		"a user changed the agent's":     {labels{"a": "2"}, labels{"a": "1"}, labels{"a": "1"}, labels{"a": "2"}},
		"the agent changes its own":      {labels{"a": "1"}, labels{"a": "1"}, labels{"a": "3"}, labels{"a": "3"}},
		"both changed it":                {labels{"a": "2"}, labels{"a": "1"}, labels{"a": "3"}, labels{"a": "3"}},
		"the agent drops its own":        {labels{"a": "1"}, labels{"a": "1"}, nil, labels{}},
		"it drops what a user changed":   {labels{"a": "2"}, labels{"a": "1"}, nil, labels{"a": "2"}},
		"it takes up a user's":           {labels{"u": "1"}, nil, labels{"u": "2"}, labels{"u": "2"}},
		"nothing is known of its labels": {labels{"a": "2"}, nil, labels{"a": "1"}, labels{"a": "1"}},
		"a user changed the machine's": {
			labels{corev1.LabelHostname: "x"}, labels{corev1.LabelHostname: "n1"},
			labels{corev1.LabelHostname: "n1"}, labels{corev1.LabelHostname: "n1"},
		},
	} {
		if got := mergeLabels(test.stored, test.before, test.now); !maps.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}

func TestPresentedLabelsAreRemembered(t *testing.T) {
	node := &corev1.Node{}
	rememberPresented(node, map[string]string{"a": "1"})
	if got := presentedBefore(node); !maps.Equal(got, map[string]string{"a": "1"}) {
		t.Errorf("remembered %v", got)
	}
	spoilt := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{presentedAnnotation: "{"}}}
	if got := presentedBefore(spoilt); len(got) != 0 {
		t.Errorf("out of a spoilt annotation came %v", got)
	}
}
