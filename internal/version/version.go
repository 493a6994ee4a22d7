// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package version says which berth this is and which Kubernetes API it serves.
package version

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	apiversion "k8s.io/apimachinery/pkg/version"
)

// Version is berth's own version. Releases set it with
// -ldflags "-X github.com/berth-run/berth/internal/version.Version=…".
var Version = "0.1.0-dev"

// Kubernetes is the release whose API objects and words berth serves: that of
// the k8s.io modules it is built from.
const Kubernetes = "v1.37.2"

// String returns both in the form that Kubernetes clients read:
// v1.37.2+berth-0.1.0.
func String() string { return Kubernetes + "+berth-" + Version }

// Info answers GET /version as Kubernetes does.
func Info() apiversion.Info {
	major, minor := majorMinor(Kubernetes)
	commit, date, state := build()
	return apiversion.Info{
		Major:        major,
		Minor:        minor,
		GitVersion:   String(),
		GitCommit:    commit,
		GitTreeState: state,
		BuildDate:    date,
		GoVersion:    runtime.Version(),
		Compiler:     runtime.Compiler,
		Platform:     fmt.Sprintf("%s/%s", runtime.GOOS, runtime.GOARCH),
	}
}

func majorMinor(v string) (major, minor string) {
	major, rest, _ := strings.Cut(strings.TrimPrefix(v, "v"), ".")
	minor, _, _ = strings.Cut(rest, ".")
	return major, minor
}

// build reads what the go command recorded of the source; a build outside a
// repository has none of it.
func build() (commit, date, state string) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "", "", ""
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			commit = s.Value
		case "vcs.time":
			date = s.Value
		case "vcs.modified":
			state = "clean"
			if s.Value == "true" {
				state = "dirty"
			}
		}
	}
	return commit, date, state
}
