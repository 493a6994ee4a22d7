// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package gc

import (
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-run/berth/api"
)

// Objects of the tests are config maps in one namespace whose UIDs are their
// names, unless a change says otherwise.
func named(name string, changes ...func(*object)) *object {
	o := &object{kind: api.ConfigMaps, namespace: "default", name: name, uid: types.UID(name)}
	for _, change := range changes {
		change(o)
	}
	return o
}

func ownedBy(refs ...metav1.OwnerReference) func(*object) {
	return func(o *object) { o.owners = append(o.owners, refs...) }
}

func ref(name string) metav1.OwnerReference {
	return metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: name, UID: types.UID(name)}
}

func refTo(version, kind, name string) metav1.OwnerReference {
	r := ref(name)
	r.APIVersion, r.Kind = version, kind
	return r
}

func deleting(o *object)                  { o.deleting = true }
func inForeground(o *object)              { o.deleting, o.foreground = true, true }
func orphaned(o *object)                  { o.deleting, o.orphaning = true, true }
func inNamespace(ns string) func(*object) { return func(o *object) { o.namespace = ns } }
func ofKind(k *api.Kind) func(*object)    { return func(o *object) { o.kind = k } }

func wantDue(t *testing.T, got []types.UID, want ...types.UID) {
	t.Helper()
	slices.Sort(got)
	if got = slices.Compact(got); !slices.Equal(got, want) {
		t.Errorf("due %q, want %q", got, want)
	}
}

func TestWhatAChangeMakesDue(t *testing.T) {
	for name, tc := range map[string]struct {
		known []*object
		set   *object
		want  []types.UID
	}{
		"no owner":                {nil, named("a"), nil},
		"owner not heard of":      {nil, named("a", ownedBy(ref("o"))), []types.UID{"a"}},
		"owner there":             {[]*object{named("o")}, named("a", ownedBy(ref("o"))), nil},
		"one of two there":        {[]*object{named("o")}, named("a", ownedBy(ref("o"), ref("p"))), []types.UID{"a"}},
		"another name":            {[]*object{named("o")}, named("a", ownedBy(metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: "x", UID: "o"})), []types.UID{"a"}},
		"another kind":            {[]*object{named("o")}, named("a", ownedBy(refTo("v1", "Secret", "o"))), []types.UID{"a"}},
		"another namespace":       {[]*object{named("o", inNamespace("other"))}, named("a", ownedBy(ref("o"))), []types.UID{"a"}},
		"no such kind here":       {nil, named("a", ownedBy(refTo("apps/v1", "Deployment", "d"))), nil},
		"no such version":         {nil, named("a", ownedBy(refTo("v2", "ConfigMap", "o"))), nil},
		"node, owned in no space": {nil, named("n", ofKind(api.Nodes), inNamespace(""), ownedBy(ref("o"))), nil},
		"owned by a node":         {[]*object{named("n", ofKind(api.Nodes), inNamespace(""))}, named("a", ownedBy(refTo("v1", "Node", "n"))), nil},
		"owner only ending":       {[]*object{named("o", deleting)}, named("a", ownedBy(ref("o"))), nil},
		"owner waits":             {[]*object{named("o", inForeground)}, named("a", ownedBy(ref("o"))), []types.UID{"a"}},
		"ending itself":           {nil, named("a", ownedBy(ref("o")), deleting), nil},
		"begins to wait":          {[]*object{named("o"), named("a", ownedBy(ref("o")))}, named("o", inForeground), []types.UID{"a", "o"}},
		"waits on":                {[]*object{named("o", inForeground), named("a", ownedBy(ref("o")))}, named("o", inForeground), []types.UID{"o"}},
		"begins to orphan":        {[]*object{named("o"), named("a", ownedBy(ref("o")))}, named("o", orphaned), []types.UID{"o"}},
		"leaves a waiting owner":  {[]*object{named("o", inForeground), named("a", ownedBy(ref("o")))}, named("a"), []types.UID{"o"}},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGraph()
			for _, o := range tc.known {
				g.set(o)
			}
			wantDue(t, g.set(tc.set), tc.want...)
		})
	}
}

func TestWhatAnEndMakesDue(t *testing.T) {
	g := newGraph()
	g.set(named("top", inForeground))
	g.set(named("o", ownedBy(ref("top"))))
	g.set(named("a", ownedBy(ref("o"))))
	g.set(named("b", ownedBy(ref("o"))))
	wantDue(t, g.remove("none"))
	wantDue(t, g.remove("o"), "a", "b", "top")
	wantDue(t, g.remove("o"))
	wantDue(t, g.remove("b"))
	wantDue(t, g.remove("a"))
	wantDue(t, g.remove("top"))
	if len(g.objects)+len(g.dependents) > 0 {
		t.Errorf("left: %v", g)
	}
}

func TestRetainTakesUpWhatWasMissed(t *testing.T) {
	g := newGraph()
	g.set(named("kept"))
	g.set(named("gone"))
	g.set(named("s", ofKind(api.Secrets), ownedBy(ref("gone"))))
	g.set(named("w", ofKind(api.Secrets), inForeground))
	g.set(named("x", ofKind(api.Secrets), ownedBy(ref("kept"))))
	wantDue(t, g.retain(api.ConfigMaps, map[types.UID]struct{}{"kept": {}}), "s", "w")
	if g.objects["gone"] != nil || g.objects["s"] == nil {
		t.Error("the wrong objects are gone")
	}
}
