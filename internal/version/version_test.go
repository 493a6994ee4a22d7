// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package version

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestKubernetesIsWhatWeBuildFrom: k8s.io/api v0.X.Y is Kubernetes v1.X.Y.
func TestKubernetesIsWhatWeBuildFrom(t *testing.T) {
	mod, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`k8s\.io/api v0\.(\S+)`).FindSubmatch(mod)
	if m == nil {
		t.Fatal("go.mod does not require k8s.io/api")
	}
	if want := "v1." + string(m[1]); Kubernetes != want {
		t.Errorf("Kubernetes is %s, want %s", Kubernetes, want)
	}
}

func TestInfo(t *testing.T) {
	info := Info()
	if info.Major != "1" || info.Minor != "37" {
		t.Errorf("major %q, minor %q", info.Major, info.Minor)
	}
	if !strings.HasPrefix(info.GitVersion, Kubernetes+"+berth") || info.GoVersion == "" {
		t.Errorf("%+v", info)
	}
}
