// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package objects

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func meta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: "default", Name: name}
}

func TestCacheKeepsKindsApart(t *testing.T) {
	c := New(nil)
	if err := c.Set(&corev1.Secret{ObjectMeta: meta("a"), Data: map[string][]byte{"k": []byte("v")}}); err != nil {
		t.Fatal(err)
	}
	if s, err := c.Secret("default", "a"); err != nil || string(s.Data["k"]) != "v" {
		t.Errorf("secret a: %v, %v", s, err)
	}
	if _, err := c.ConfigMap("default", "a"); !apierrors.IsNotFound(err) {
		t.Errorf("config map a: %v, want NotFound", err)
	}
	if _, err := c.Secret("other", "a"); !apierrors.IsNotFound(err) {
		t.Errorf("secret of another namespace: %v, want NotFound", err)
	}
	if n := len(c.All()); n != 1 {
		t.Errorf("%d objects, want 1", n)
	}
}

func TestSetRefusesOtherKinds(t *testing.T) {
	if err := New(nil).Set(&corev1.Pod{ObjectMeta: meta("p")}); err == nil {
		t.Error("a pod was taken")
	}
}

func TestChangedIsToldOfEachChange(t *testing.T) {
	var got []Key
	c := New(func(k Key) { got = append(got, k) })
	_ = c.Set(&corev1.ConfigMap{ObjectMeta: meta("a")})
	_ = c.Set(&corev1.ConfigMap{ObjectMeta: meta("a")})
	c.Remove("ConfigMap", "default", "a")
	c.Remove("ConfigMap", "default", "a")
	want := Key{"ConfigMap", "default", "a"}
	if !slices.Equal(got, []Key{want, want, want}) {
		t.Errorf("told of %v", got)
	}
}
