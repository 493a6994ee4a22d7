// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package imports keeps the rules of who may import whom. They are about what is
// built into the product: tests may import whatever they need.
package imports

import (
	"os/exec"
	"strings"
	"testing"
)

const module = "github.com/berth-run/berth/"

// rules say which packages of ours a package may import, itself and all below it
// included: the first rule that fits decides. What no rule is about, such as the
// commands, may import anything. Between the parts of a side, leaves and siblings
// decide instead.
var rules = []struct {
	from    string
	allowed []string
}{
	{"proto/", []string{"proto/"}},
	{"api", []string{"proto/", "api"}},
	{"store", []string{"store"}},
	{"internal/", []string{"proto/", "api", "internal/"}},
	// The composition roots plug their parts together.
	{"server", []string{"proto/", "api", "internal/", "store", "server/"}},
	{"agent", []string{"proto/", "api", "internal/", "agent/"}},
	{"cli", []string{"proto/", "api", "internal/", "cli"}},
}

// leaves are the parts that all others of their side may be built on. resize holds
// types and pure functions only.
var leaves = []string{"agent/podtypes", "agent/resize", "server/registry", "server/apierror"}

// siblings are the other imports between parts that are wanted: a part names here
// the parts that it is built on.
var siblings = map[string][]string{
	"agent/node":       {"agent/hugepages"},
	"agent/podruntime": {"agent/cri", "agent/crilog", "agent/hugepages", "agent/reach", "agent/userns"},
	"agent/prober":     {"agent/reach"},
	"agent/tunnel":     {"agent/crilog"},
	"server/rest":      {"server/rpc"},
}

// criPackages are the only ones that see the runtime's wire types.
var criPackages = []string{"agent/podruntime", "agent/pleg", "agent/cri", "agent/containerd", "test/"}

type pkg struct {
	path    string
	imports []string
}

func packages(t *testing.T) []pkg {
	t.Helper()
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}}{{range .Imports}} {{.}}{{end}}`, module+"...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var pkgs []pkg
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		pkgs = append(pkgs, pkg{strings.TrimPrefix(fields[0], module), fields[1:]})
	}
	return pkgs
}

// fits tells whether path is the package of the pattern or lies below it; a
// pattern that ends in / has only packages below.
func fits(path, pattern string) bool {
	dir := strings.TrimSuffix(pattern, "/")
	return path == dir || strings.HasPrefix(path, dir+"/")
}

func fitsAny(path string, patterns []string) bool {
	for _, p := range patterns {
		if fits(path, p) {
			return true
		}
	}
	return false
}

func TestImportRules(t *testing.T) {
	for _, p := range packages(t) {
		for _, imported := range p.imports {
			if strings.HasPrefix(imported, "k8s.io/kubernetes") {
				t.Errorf("%s imports %s", p.path, imported)
			}
			if strings.HasPrefix(imported, "k8s.io/cri-api") && !fitsAny(p.path, criPackages) {
				t.Errorf("%s imports %s: CRI types stop at %v", p.path, imported, criPackages)
			}
			ours, ok := strings.CutPrefix(imported, module)
			if ok && !mayImport(p.path, ours) {
				t.Errorf("%s may not import %s", p.path, ours)
			}
		}
	}
}

func mayImport(from, to string) bool {
	if a := part(from); a != "" && a != part(to) && fitsAny(to, []string{"server", "agent"}) {
		return side(from) == side(to) && (fitsAny(to, leaves) || fitsAny(to, siblings[a]))
	}
	for _, r := range rules {
		if fits(from, r.from) {
			return fitsAny(to, r.allowed)
		}
	}
	return true
}

// side returns the first element of a path.
func side(path string) string {
	first, _, _ := strings.Cut(path, "/")
	return first
}

// part returns which part of the server or of the agent a package belongs to,
// such as agent/pleg; the composition roots belong to none.
func part(path string) string {
	elems := strings.Split(path, "/")
	if len(elems) < 2 || (elems[0] != "agent" && elems[0] != "server") {
		return ""
	}
	return elems[0] + "/" + elems[1]
}

func TestRulesCatchWhatTheyForbid(t *testing.T) {
	for _, tc := range []struct {
		from, to string
		want     bool
	}{
		{"agent/pleg", "agent/podtypes", true},
		{"agent/pleg", "agent/status", false},
		{"agent/cri/fake", "agent/cri", true},
		{"agent/podruntime/images", "agent/cri", true},
		{"agent/cri", "agent/podruntime", false},
		{"server/dispatch", "server/registry", true},
		{"server/dispatch", "server/apierror", true},
		{"server/rest", "server/rpc/inprocess", true},
		{"server/rpc", "server/rest", false},
		{"server/rpc", "server", false},
		{"agent/pleg", "agent", false},
		{"server/registry", "server/dispatch", false},
		{"agent/session", "server/registry", false},
		{"agent", "agent/pleg", true},
		{"agent", "server/registry", false},
		{"server/rest", "agent/podtypes", false},
		{"store/bolt", "api", false},
		{"store/bolt", "store", true},
		{"api/fit", "api", true},
		{"api", "store", false},
		{"cli", "server", false},
		{"cmd/berth", "server", true},
	} {
		if got := mayImport(tc.from, tc.to); got != tc.want {
			t.Errorf("%s imports %s: allowed = %v, want %v", tc.from, tc.to, got, tc.want)
		}
	}
}
