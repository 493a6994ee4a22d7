// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package rest

import (
	"encoding/json"
	"net/http"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiversion "k8s.io/apimachinery/pkg/version"

	"github.com/berth-run/berth/api"
	"github.com/berth-run/berth/internal/version"
)

// answerJSON answers with what never changes.
func answerJSON(v any) http.HandlerFunc {
	body, err := json.MarshalIndent(v, "", "  ")
	return func(w http.ResponseWriter, r *http.Request) {
		if err != nil {
			writeError(w, r, err)
			return
		}
		w.Header().Set("Content-Type", string(mediaJSON))
		_, _ = w.Write(append(body, '\n'))
	}
}

func versionInfo() apiversion.Info { return version.Info() }

func apiVersions() *metav1.APIVersions {
	return &metav1.APIVersions{
		TypeMeta:                   metav1.TypeMeta{Kind: "APIVersions"},
		Versions:                   []string{"v1"},
		ServerAddressByClientCIDRs: []metav1.ServerAddressByClientCIDR{},
	}
}

func apiGroups() *metav1.APIGroupList {
	return &metav1.APIGroupList{
		TypeMeta: metav1.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"},
		Groups:   []metav1.APIGroup{},
	}
}

// apiResources describes the table of kinds, as kubectl's discovery reads it.
func apiResources() *metav1.APIResourceList {
	out := &metav1.APIResourceList{
		TypeMeta:     metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"},
		GroupVersion: "v1",
	}
	for _, k := range api.Kinds {
		out.APIResources = append(out.APIResources, metav1.APIResource{
			Name: k.Resource, SingularName: strings.ToLower(k.Name), Namespaced: k.Namespaced,
			Kind: k.Name, Verbs: k.Verbs, ShortNames: k.ShortNames,
		})
		out.APIResources = append(out.APIResources, subresources(k)...)
	}
	return out
}

func subresources(k *api.Kind) []metav1.APIResource {
	sub := func(name, kind string, verbs ...string) metav1.APIResource {
		return metav1.APIResource{Name: k.Resource + "/" + name, Namespaced: k.Namespaced, Kind: kind, Verbs: verbs}
	}
	var out []metav1.APIResource
	if k.Status {
		out = append(out, sub("status", k.Name, "get", "update"))
	}
	if k == api.Pods {
		out = append(out, sub("binding", "Binding", "create"), sub("log", k.Name, "get"))
	}
	return out
}
