// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package openapi

import (
	"net/http"

	"k8s.io/kube-openapi/pkg/spec3"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// V3 returns the document of version 3 for what is served below a path of Paths.
func V3(below, version string) *spec3.OpenAPI {
	m, paths := describe(v3, resourcesBelow(below))
	doc := &spec3.OpenAPI{
		Version:    "3.0.0",
		Info:       info(version),
		Paths:      &spec3.Paths{Paths: map[string]*spec3.Path{}},
		Components: &spec3.Components{Schemas: map[string]*spec.Schema{}},
	}
	for _, p := range paths {
		doc.Paths.Paths[p.path] = p.v3()
	}
	for name, s := range m.schemas {
		doc.Components.Schemas[name] = &s
	}
	return doc
}

func (p path) v3() *spec3.Path {
	out := &spec3.Path{PathProps: spec3.PathProps{Parameters: parametersV3(p.parameters)}}
	for _, op := range p.operations {
		*slotV3(out, op.method) = op.v3()
	}
	return out
}

func slotV3(p *spec3.Path, method string) **spec3.Operation {
	switch method {
	case http.MethodPost:
		return &p.Post
	case http.MethodPut:
		return &p.Put
	case http.MethodPatch:
		return &p.Patch
	case http.MethodDelete:
		return &p.Delete
	}
	return &p.Get
}

func (op operation) v3() *spec3.Operation {
	out := &spec3.Operation{OperationProps: spec3.OperationProps{
		OperationId: op.id, Description: op.description, Parameters: parametersV3(op.query),
		Responses: &spec3.Responses{ResponsesProps: spec3.ResponsesProps{StatusCodeResponses: map[int]*spec3.Response{}}},
	}}
	if op.body != "" {
		out.RequestBody = &spec3.RequestBody{RequestBodyProps: spec3.RequestBodyProps{
			Content: contentV3(op.body, op.consumes), Required: op.method != http.MethodDelete,
		}}
	}
	for _, code := range op.codes {
		out.Responses.StatusCodeResponses[code] = &spec3.Response{ResponseProps: spec3.ResponseProps{
			Description: http.StatusText(code), Content: contentV3(op.answer, op.produces),
		}}
	}
	out.Extensions = op.extensions()
	return out
}

func contentV3(name string, types []string) map[string]*spec3.MediaType {
	s := scalar("string", "")
	if name != "" {
		s = v3.ref(name)
	}
	out := map[string]*spec3.MediaType{}
	for _, t := range types {
		out[t] = &spec3.MediaType{MediaTypeProps: spec3.MediaTypeProps{Schema: &s}}
	}
	return out
}

func parametersV3(params []parameter) []*spec3.Parameter {
	var out []*spec3.Parameter
	for _, p := range params {
		s := scalar(p.kind, "")
		s.UniqueItems = true // as Kubernetes has it
		out = append(out, &spec3.Parameter{ParameterProps: spec3.ParameterProps{
			Name: p.name, In: p.in, Description: p.doc, Required: p.required, Schema: &s,
		}})
	}
	return out
}

func (op operation) extensions() spec.Extensions {
	return spec.Extensions{"x-kubernetes-action": op.action, groupVersionKind: gvkExtension(op.gvk)}
}
