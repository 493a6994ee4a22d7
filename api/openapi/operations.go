// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package openapi

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// operation is a method on a path, apart from how a version of OpenAPI writes it.
type operation struct {
	method, action, id, description string

	gvk   schema.GroupVersionKind
	query []parameter
	// body and answer are the names of schemas; a body may be missing, and an
	// answer without a schema is text.
	body, answer       string
	consumes, produces []string
	codes              []int
}

// path has the operations on it.
type path struct {
	path       string
	parameters []parameter
	operations []operation
}

// verb is how a verb of discovery looks in a document.
type verb struct {
	method, action string
	// id begins the operation's id, after is put before the kind in it.
	id, after string
	query     []parameter
	codes     []int
}

const (
	verbList             = "list"
	verbDelete           = "delete"
	verbDeleteCollection = "deletecollection"
	verbPatch            = "patch"
	verbUpdate           = "update"
	verbCreate           = "create"
	verbGet              = "get"
)

// verbs has no watch: that is a parameter of list.
func verbs() map[string]verb {
	deletion := query(deleteOptions, "dryRun", "gracePeriodSeconds", "propagationPolicy")
	ok, created := http.StatusOK, http.StatusCreated
	return map[string]verb{
		verbList:   {http.MethodGet, "list", "list", "", query(listOptions), []int{ok}},
		verbGet:    {http.MethodGet, "get", "read", "", nil, []int{ok}},
		verbCreate: {http.MethodPost, "post", "create", "", query(createOptions), []int{created}},
		verbUpdate: {http.MethodPut, "put", "replace", "", query(updateOptions), []int{ok}},
		verbPatch:  {http.MethodPatch, "patch", "patch", "", query(patchOptions), []int{ok, created}},
		verbDelete: {http.MethodDelete, "delete", "delete", "", deletion, []int{ok}},
		verbDeleteCollection: {http.MethodDelete, "deletecollection", "delete", "Collection",
			append(query(listOptions, "fieldSelector", "labelSelector", "limit", "continue", "resourceVersion", "resourceVersionMatch"), deletion...), []int{ok}},
	}
}

// allNamespaces ends the id of an operation on the objects of every namespace.
const allNamespaces = "ForAllNamespaces"

var (
	bodyTypes   = []string{runtime.ContentTypeJSON, runtime.ContentTypeYAML, runtime.ContentTypeProtobuf}
	streamTypes = []string{runtime.ContentTypeJSON + ";stream=watch", runtime.ContentTypeProtobuf + ";stream=watch"}
	patchTypes  = []string{
		string(types.JSONPatchType), string(types.MergePatchType),
		string(types.StrategicMergePatchType), string(types.ApplyYAMLPatchType),
	}
)

// parts are the schemas that operations name.
type parts struct {
	object, list, patch, options, status string
}

// paths returns all that can be done with the resource, from its verbs.
func (r resource) paths(p parts) []path {
	scope := ""
	if r.Namespaced {
		scope = "/namespaces/{namespace}"
	}
	items := r.Path() + scope + "/" + r.Resource
	item := items + "/{name}"
	out := []path{
		r.path(items, "", p, verbList, verbCreate, verbDeleteCollection),
		r.path(item, "", p, verbGet, verbUpdate, verbPatch, verbDelete),
	}
	if r.Namespaced {
		out = append(out, r.path(r.Path()+"/"+r.Resource, allNamespaces, p, verbList))
	}
	return append(out, r.subpaths(item, p)...)
}

// path returns those of the verbs that the resource has, as operations on a path.
func (r resource) path(at, suffix string, p parts, names ...string) path {
	out := path{path: at, parameters: pathParameters(strings.Contains(at, "{namespace}"), strings.Contains(at, "{name}"))}
	all := verbs()
	for _, name := range names {
		if slices.Contains(r.verbs, name) {
			out.operations = append(out.operations, r.operation(name, all[name], suffix, p))
		}
	}
	return out
}

func (r resource) operation(name string, v verb, suffix string, p parts) operation {
	op := operation{
		method: v.method, action: v.action, query: v.query, codes: v.codes,
		id:          r.id(v, suffix),
		description: fmt.Sprintf("%s %s", v.id, article(name, r.Name)),
		gvk:         r.GroupVersionKind(),
		answer:      p.object, produces: bodyTypes,
	}
	switch name {
	case verbList:
		op.answer, op.produces = p.list, slices.Concat(bodyTypes, streamTypes)
	case verbCreate, verbUpdate:
		op.body, op.consumes = p.object, bodyTypes
	case verbPatch:
		op.body, op.consumes = p.patch, patchTypes
	case verbDelete:
		op.body, op.consumes = p.options, bodyTypes
	case verbDeleteCollection:
		op.body, op.consumes, op.answer = p.options, bodyTypes, p.list
	}
	if r.absence != "" {
		op.description, op.query = r.absence, undescribed(op.query)
	}
	return op
}

// undescribed parameters take less than half the bytes.
func undescribed(params []parameter) []parameter {
	out := slices.Clone(params)
	for i := range out {
		out[i].doc = ""
	}
	return out
}

// article names what an operation works on.
func article(name, kind string) string {
	if name == verbList || name == verbDeleteCollection {
		return "objects of kind " + kind
	}
	return "the " + kind
}

// id is unique in all documents, and in the form of Kubernetes:
// readCoreV1NamespacedPodStatus.
func (r resource) id(v verb, suffix string) string {
	group, _, _ := strings.Cut(r.Group, ".")
	if group == "" {
		group = "core"
	}
	scope := ""
	if r.Namespaced && suffix != allNamespaces {
		scope = "Namespaced"
	}
	return v.id + title(group) + title(r.Version) + v.after + scope + r.Name + suffix
}

func title(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
