// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podruntime

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func TestSubPath(t *testing.T) {
	vars := map[string]string{"POD": "web-1", "UP": "a/../b", "ROOT": "/", "EMPTY": ""}
	for name, tc := range map[string]struct {
		mount corev1.VolumeMount
		want  string
		err   string
	}{
		"all of it":          {corev1.VolumeMount{}, "", ""},
		"as it is":           {corev1.VolumeMount{SubPath: "a/$(POD)"}, "a/$(POD)", ""},
		"expanded":           {corev1.VolumeMount{SubPathExpr: "logs/$(POD)"}, "logs/web-1", ""},
		"escaped":            {corev1.VolumeMount{SubPathExpr: "$$(POD)"}, "$(POD)", ""},
		"no reference":       {corev1.VolumeMount{SubPathExpr: "$POD $(POD"}, "$POD $(POD", ""},
		"empty":              {corev1.VolumeMount{SubPathExpr: "a$(EMPTY)"}, "a", ""},
		"unknown":            {corev1.VolumeMount{SubPathExpr: "a/$(POD)/$(NODE)"}, "", `missing value for "NODE"`},
		"absolute":           {corev1.VolumeMount{SubPathExpr: "$(ROOT)etc"}, "", `SubPath "/etc" must not be an absolute path`},
		"leads up":           {corev1.VolumeMount{SubPathExpr: "$(UP)"}, "", `SubPath "a/../b" must not contain '..'`},
		"longer than a path": {corev1.VolumeMount{SubPathExpr: strings.Repeat("a", maxPath+1)}, "", "longer than a path can be"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := subPath(&tc.mount, vars)
			if got != tc.want || (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
}
