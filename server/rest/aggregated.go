// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package rest

import (
	"net/http"
	"strings"

	apidiscovery "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-run/berth/api"
)

// aggregatedVersions of the form that has all kinds in one answer; they differ in
// their name alone.
var aggregatedVersions = []string{"v2", "v2beta1"}

// serveDiscovery answers with the aggregated form of discovery for groups where
// it is accepted, and else with plain.
func serveDiscovery(plain http.HandlerFunc, groups []discoveryGroup) http.HandlerFunc {
	documents := map[string]document{}
	for _, v := range aggregatedVersions {
		documents[v] = jsonDocument(func() any { return aggregated(v, groups) })
	}
	return func(w http.ResponseWriter, r *http.Request) {
		v := aggregatedVersion(strings.Join(r.Header.Values("Accept"), ","))
		if v == "" {
			w.Header().Add("Vary", "Accept")
			plain(w, r)
			return
		}
		documents[v].serve(w, r, string(mediaJSON)+";g="+apidiscovery.GroupName+";v="+v+";as=APIGroupDiscoveryList")
	}
}

// aggregatedVersion returns the version of the aggregated form that an Accept
// header prefers; empty is the plain form.
func aggregatedVersion(accept string) string {
	for _, c := range parseAccept(accept) {
		switch {
		case c.name != string(mediaJSON) && c.name != "application/*" && c.name != "*/*":
		case len(c.params) == 0, c.params["as"] == "":
			return ""
		case c.params["as"] == "APIGroupDiscoveryList" && c.params["g"] == apidiscovery.GroupName:
			for _, v := range aggregatedVersions {
				if c.params["v"] == v {
					return v
				}
			}
		}
	}
	return ""
}

func aggregated(version string, groups []discoveryGroup) *apidiscovery.APIGroupDiscoveryList {
	out := &apidiscovery.APIGroupDiscoveryList{
		TypeMeta: metav1.TypeMeta{Kind: "APIGroupDiscoveryList", APIVersion: apidiscovery.GroupName + "/" + version},
		Items:    []apidiscovery.APIGroupDiscovery{},
	}
	for _, g := range groups {
		v := apidiscovery.APIVersionDiscovery{Version: g.version, Freshness: apidiscovery.DiscoveryFreshnessCurrent}
		for _, k := range g.kinds {
			v.Resources = append(v.Resources, resourceDiscovery(k))
		}
		out.Items = append(out.Items, apidiscovery.APIGroupDiscovery{
			ObjectMeta: metav1.ObjectMeta{Name: g.name}, Versions: []apidiscovery.APIVersionDiscovery{v},
		})
	}
	return out
}

func resourceDiscovery(k *api.Kind) apidiscovery.APIResourceDiscovery {
	out := apidiscovery.APIResourceDiscovery{
		Resource: k.Resource, SingularResource: strings.ToLower(k.Name), Verbs: k.Verbs,
		ShortNames: k.ShortNames, Categories: k.Categories,
		Scope:        apidiscovery.ScopeCluster,
		ResponseKind: &metav1.GroupVersionKind{Group: k.Group, Version: k.Version, Kind: k.Name},
	}
	if k.Namespaced {
		out.Scope = apidiscovery.ScopeNamespace
	}
	for _, s := range k.Subresources() {
		out.Subresources = append(out.Subresources, apidiscovery.APISubresourceDiscovery{
			Subresource: s.Name, Verbs: s.Verbs, ResponseKind: responseKind(k, s),
		})
	}
	return out
}

// responseKind is what travels at a subresource of the kind.
func responseKind(k *api.Kind, s api.Subresource) *metav1.GroupVersionKind {
	if s.Group != "" {
		return &metav1.GroupVersionKind{Group: s.Group, Version: s.Version, Kind: s.Kind}
	}
	return &metav1.GroupVersionKind{Group: k.Group, Version: k.Version, Kind: s.Kind}
}
