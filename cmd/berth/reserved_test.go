// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func TestReservedFlag(t *testing.T) {
	var list corev1.ResourceList
	f := reservedFlag{&list}
	if err := f.Set("memory=1Gi,cpu=500m"); err != nil || f.String() != "cpu=500m,memory=1Gi" {
		t.Errorf("%s, %v", f.String(), err)
	}
	for _, text := range []string{"", "pods=1", "cpu", "cpu=much", "cpu=-1"} {
		if f.Set(text) == nil {
			t.Errorf("%q is taken", text)
		}
	}
}
