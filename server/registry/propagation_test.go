// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/berth-run/berth/api"
	"github.com/berth-run/berth/store/bolt"
)

func policy(p metav1.DeletionPropagation) metav1.DeleteOptions {
	return metav1.DeleteOptions{PropagationPolicy: &p}
}

func TestPropagationFinalizers(t *testing.T) {
	orphan, foreground := "orphan", "foregroundDeletion"
	for name, tc := range map[string]struct {
		options    metav1.DeleteOptions
		have, want []string
	}{
		"nothing said":             {metav1.DeleteOptions{}, []string{"a/b"}, []string{"a/b"}},
		"nothing said, set before": {metav1.DeleteOptions{}, []string{orphan}, []string{orphan}},
		"orphan":                   {policy(metav1.DeletePropagationOrphan), []string{"a/b"}, []string{"a/b", orphan}},
		"orphan again":             {policy(metav1.DeletePropagationOrphan), []string{orphan, "a/b"}, []string{orphan, "a/b"}},
		"foreground":               {policy(metav1.DeletePropagationForeground), nil, []string{foreground}},
		"foreground after orphan":  {policy(metav1.DeletePropagationForeground), []string{orphan}, []string{foreground}},
		"background":               {policy(metav1.DeletePropagationBackground), nil, nil},
		"background after both":    {policy(metav1.DeletePropagationBackground), []string{foreground, "a/b"}, []string{"a/b"}},
		//lint:ignore SA1019 clients may still send it
		"orphanDependents": {metav1.DeleteOptions{OrphanDependents: ptr.To(true)}, nil, []string{orphan}},
		//lint:ignore SA1019 clients may still send it
		"not orphanDependents": {metav1.DeleteOptions{OrphanDependents: ptr.To(false)}, []string{orphan}, nil},
	} {
		if got := propagationFinalizers(tc.have, tc.options); !slices.Equal(got, tc.want) {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}

func TestDeleteWithAPolicyWaitsForTheCollector(t *testing.T) {
	w := newWorld(t, bolt.Options{})
	c := w.create(api.ConfigMaps, configMap("default", "owner", ""))
	remove := func(o metav1.DeleteOptions) api.Object {
		t.Helper()
		obj, err := w.Delete(t.Context(), api.ConfigMaps, "default", "owner", o)
		if err != nil {
			t.Fatal(err)
		}
		return obj
	}
	obj := remove(policy(metav1.DeletePropagationForeground))
	if !slices.Equal(obj.GetFinalizers(), []string{"foregroundDeletion"}) || obj.GetDeletionTimestamp() == nil {
		t.Errorf("foreground: %+v", obj)
	}
	if obj = remove(metav1.DeleteOptions{}); obj.GetDeletionTimestamp() == nil {
		t.Errorf("again, without a policy: %+v", obj)
	}
	if obj = remove(policy(metav1.DeletePropagationBackground)); obj.GetDeletionTimestamp() != nil {
		t.Errorf("in the background after all: %+v", obj)
	}
	w.wantGone(api.ConfigMaps, c)

	e := &corev1.Event{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "e"}}
	w.create(api.Events, e)
	if _, err := w.Delete(t.Context(), api.Events, "default", "e", policy(metav1.DeletePropagationForeground)); err != nil {
		t.Fatal(err)
	}
	w.wantGone(api.Events, e)
}
