// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package rest

import (
	"encoding/json"
	"slices"
	"testing"

	apidiscovery "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-run/berth/api"
)

// resourcesOf reads discovery in its plain form, as resources by group version
// and name.
func resourcesOf(t *testing.T, s *server) map[string]metav1.APIResource {
	out := map[string]metav1.APIResource{}
	add := func(path string) {
		var list metav1.APIResourceList
		s.do(t, "GET", path, "", 200, &list)
		for _, r := range list.APIResources {
			out[list.GroupVersion+"/"+r.Name] = r
		}
	}
	var versions metav1.APIVersions
	s.do(t, "GET", "/api", "", 200, &versions)
	for _, v := range versions.Versions {
		add("/api/" + v)
	}
	var groups metav1.APIGroupList
	s.do(t, "GET", "/apis", "", 200, &groups)
	for _, g := range groups.Groups {
		var group metav1.APIGroup
		s.do(t, "GET", "/apis/"+g.Name, "", 200, &group)
		if group.Kind != "APIGroup" || group.PreferredVersion != g.PreferredVersion {
			t.Errorf("group %+v, in the list %+v", group, g)
		}
		add("/apis/" + g.PreferredVersion.GroupVersion)
	}
	return out
}

func TestDiscovery(t *testing.T) {
	s := newServer(t)
	found := resourcesOf(t, s)
	for name, want := range map[string]metav1.APIResource{
		"v1/pods":                              {Kind: "Pod", SingularName: "pod", Namespaced: true, ShortNames: []string{"po"}, Categories: []string{"all"}},
		"v1/pods/status":                       {Kind: "Pod", Namespaced: true},
		"v1/pods/log":                          {Kind: "Pod", Namespaced: true},
		"v1/pods/resize":                       {Kind: "Pod", Namespaced: true},
		"v1/pods/binding":                      {Kind: "Binding", Namespaced: true},
		"v1/pods/ephemeralcontainers":          {Kind: "Pod", Namespaced: true},
		"v1/serviceaccounts/token":             {Kind: "TokenRequest", Namespaced: true, Group: "authentication.k8s.io", Version: "v1"},
		"v1/nodes":                             {Kind: "Node", SingularName: "node", ShortNames: []string{"no"}},
		"v1/services":                          {Kind: "Service", SingularName: "service", Namespaced: true, ShortNames: []string{"svc"}, Categories: []string{"all"}},
		"coordination.k8s.io/v1/leases":        {Kind: "Lease", SingularName: "lease", Namespaced: true},
		"scheduling.k8s.io/v1/priorityclasses": {Kind: "PriorityClass", SingularName: "priorityclass", ShortNames: []string{"pc"}},
		"node.k8s.io/v1/runtimeclasses":        {Kind: "RuntimeClass", SingularName: "runtimeclass"},
		"apps/v1/deployments":                  {Kind: "Deployment", SingularName: "deployment", Namespaced: true, ShortNames: []string{"deploy"}, Categories: []string{"all"}},
	} {
		got := found[name]
		if got.Kind != want.Kind || got.SingularName != want.SingularName || got.Namespaced != want.Namespaced ||
			got.Group != want.Group || got.Version != want.Version ||
			!slices.Equal(got.ShortNames, want.ShortNames) || !slices.Equal(got.Categories, want.Categories) || len(got.Verbs) == 0 {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
	for _, k := range api.Kinds {
		if got := found[k.GroupVersionKind().GroupVersion().String()+"/"+k.Resource]; !slices.Equal(got.Verbs, k.Verbs) {
			t.Errorf("%s: verbs %v, want %v", k.Resource, got.Verbs, k.Verbs)
		}
	}
}

// TestAggregatedDiscovery: the form in one answer says the same as the plain one.
func TestAggregatedDiscovery(t *testing.T) {
	s := newServer(t)
	plain := resourcesOf(t, s)
	const accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
	for _, path := range []string{"/api", "/apis"} {
		resp, body := s.call(t, "GET", path, "", "Accept", accept+",application/json")
		if got := resp.Header.Get("Content-Type"); got != accept {
			t.Errorf("%s: Content-Type %s", path, got)
		}
		var list apidiscovery.APIGroupDiscoveryList
		if err := json.Unmarshal(body, &list); err != nil {
			t.Fatal(err)
		}
		if list.Kind != "APIGroupDiscoveryList" || list.APIVersion != "apidiscovery.k8s.io/v2" {
			t.Errorf("%s: %+v", path, list.TypeMeta)
		}
		for _, g := range list.Items {
			dropSame(t, plain, g)
		}
		if resp, body := s.call(t, "GET", path, "", "Accept", accept, "If-None-Match", resp.Header.Get("ETag")); resp.StatusCode != 304 {
			t.Errorf("%s again: %d %s", path, resp.StatusCode, body)
		}
	}
	for name := range plain {
		t.Errorf("%s is not in the aggregated form", name)
	}
}

func dropSame(t *testing.T, plain map[string]metav1.APIResource, g apidiscovery.APIGroupDiscovery) {
	for _, v := range g.Versions {
		prefix := v.Version + "/"
		if g.Name != "" {
			prefix = g.Name + "/" + prefix
		}
		for _, r := range v.Resources {
			want := plain[prefix+r.Resource]
			if r.ResponseKind.Kind != want.Kind || r.SingularResource != want.SingularName || !slices.Equal(r.Verbs, want.Verbs) ||
				(r.Scope == apidiscovery.ScopeNamespace) != want.Namespaced || !slices.Equal(r.ShortNames, want.ShortNames) ||
				!slices.Equal(r.Categories, want.Categories) {
				t.Errorf("%s%s: %+v, want %+v", prefix, r.Resource, r, want)
			}
			delete(plain, prefix+r.Resource)
			for _, sub := range r.Subresources {
				name := prefix + r.Resource + "/" + sub.Subresource
				if want := plain[name]; sub.ResponseKind.Kind != want.Kind || !slices.Equal(sub.Verbs, want.Verbs) {
					t.Errorf("%s: %+v, want %+v", name, sub, want)
				}
				delete(plain, name)
			}
		}
	}
}

func TestAggregatedVersion(t *testing.T) {
	const v2, beta = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList", "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList"
	for accept, want := range map[string]string{
		"":                                    "",
		"application/json":                    "",
		"*/*":                                 "",
		v2:                                    "v2",
		beta + ",application/json":            "v2beta1",
		v2 + "," + beta + ",application/json": "v2",
		"application/json," + v2:              "",
		v2 + ";q=0.5," + "application/json;q=0.9":                              "",
		"application/json;g=apidiscovery.k8s.io;v=v3;as=APIGroupDiscoveryList": "",
	} {
		if got := aggregatedVersion(accept); got != want {
			t.Errorf("%q: %q, want %q", accept, got, want)
		}
	}
}
