// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package rest

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiversion "k8s.io/apimachinery/pkg/version"

	"github.com/berth-run/berth/api"
	"github.com/berth-run/berth/internal/version"
)

// answerJSON answers with what never changes, readable for people.
func answerJSON[T any](make func() T) http.HandlerFunc {
	return newDocument(func() ([]byte, error) {
		body, err := json.MarshalIndent(make(), "", "  ")
		return append(body, '\n'), err
	}).serveJSON
}

func versionInfo() apiversion.Info { return version.Info() }

// addDiscovery adds the handlers that tell what kinds there are.
func addDiscovery(plain map[string]http.HandlerFunc) {
	groups := discoveryGroups()
	core, named := groups[:1], groups[1:]
	plain["/api"] = serveDiscovery(answerJSON(apiVersions), core)
	plain["/apis"] = serveDiscovery(answerJSON(func() any { return apiGroups(named) }), named)
	for _, g := range groups {
		plain[g.path()] = answerJSON(g.resourceList)
	}
	for _, g := range named {
		plain["/apis/"+g.name] = answerJSON(g.group)
	}
}

// discoveryGroup is a group with the one version that it has here.
type discoveryGroup struct {
	name, version string
	kinds         []*api.Kind
}

// discoveryGroups returns those of both tables of kinds, the core group first.
func discoveryGroups() []discoveryGroup {
	var out []discoveryGroup
	for _, k := range discoveredKinds() {
		i := slices.IndexFunc(out, func(g discoveryGroup) bool { return g.name == k.Group })
		if i < 0 {
			i, out = len(out), append(out, discoveryGroup{name: k.Group, version: k.Version})
		}
		out[i].kinds = append(out[i].kinds, k)
	}
	return out
}

func discoveredKinds() []*api.Kind {
	out := slices.Clone(api.Kinds)
	for _, k := range api.AbsentKinds {
		out = append(out, &k.Kind)
	}
	return out
}

func (g discoveryGroup) path() string { return g.kinds[0].Path() }

func (g discoveryGroup) groupVersion() string {
	return g.kinds[0].GroupVersionKind().GroupVersion().String()
}

func apiVersions() *metav1.APIVersions {
	return &metav1.APIVersions{
		TypeMeta:                   metav1.TypeMeta{Kind: "APIVersions"},
		Versions:                   []string{"v1"},
		ServerAddressByClientCIDRs: []metav1.ServerAddressByClientCIDR{},
	}
}

func apiGroups(groups []discoveryGroup) *metav1.APIGroupList {
	out := &metav1.APIGroupList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"}}
	for _, g := range groups {
		group := *g.group()
		group.TypeMeta = metav1.TypeMeta{}
		out.Groups = append(out.Groups, group)
	}
	return out
}

func (g discoveryGroup) group() *metav1.APIGroup {
	version := metav1.GroupVersionForDiscovery{GroupVersion: g.groupVersion(), Version: g.version}
	return &metav1.APIGroup{
		TypeMeta:         metav1.TypeMeta{Kind: "APIGroup", APIVersion: "v1"},
		Name:             g.name,
		Versions:         []metav1.GroupVersionForDiscovery{version},
		PreferredVersion: version,
	}
}

// resourceList describes the kinds of a group, as clients without the aggregated
// form of discovery read them.
func (g discoveryGroup) resourceList() *metav1.APIResourceList {
	out := &metav1.APIResourceList{
		TypeMeta:     metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"},
		GroupVersion: g.groupVersion(),
	}
	for _, k := range g.kinds {
		out.APIResources = append(out.APIResources, metav1.APIResource{
			Name: k.Resource, SingularName: strings.ToLower(k.Name), Namespaced: k.Namespaced,
			Kind: k.Name, Verbs: k.Verbs, ShortNames: k.ShortNames, Categories: k.Categories,
		})
		for _, s := range k.Subresources() {
			out.APIResources = append(out.APIResources, metav1.APIResource{
				Name: k.Resource + "/" + s.Name, Namespaced: k.Namespaced, Group: s.Group, Version: s.Version, Kind: s.Kind, Verbs: s.Verbs,
			})
		}
	}
	return out
}
