// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package openapi

import (
	"net/http"

	"k8s.io/kube-openapi/pkg/validation/spec"
)

// V2 returns the document of version 2 for the whole API.
func V2(version string) *spec.Swagger {
	m, paths := describe(v2, resources())
	doc := &spec.Swagger{SwaggerProps: spec.SwaggerProps{
		Swagger:     "2.0",
		Info:        info(version),
		Paths:       &spec.Paths{Paths: map[string]spec.PathItem{}},
		Definitions: m.schemas,
	}}
	for _, p := range paths {
		doc.Paths.Paths[p.path] = p.v2()
	}
	return doc
}

func (p path) v2() spec.PathItem {
	out := spec.PathItem{PathItemProps: spec.PathItemProps{Parameters: parametersV2(p.parameters)}}
	for _, op := range p.operations {
		*slotV2(&out, op.method) = op.v2()
	}
	return out
}

func slotV2(p *spec.PathItem, method string) **spec.Operation {
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

func (op operation) v2() *spec.Operation {
	out := &spec.Operation{OperationProps: spec.OperationProps{
		ID: op.id, Description: op.description, Parameters: parametersV2(op.query),
		Consumes: op.consumes, Produces: op.produces, Schemes: []string{"http"},
		Responses: &spec.Responses{ResponsesProps: spec.ResponsesProps{StatusCodeResponses: map[int]spec.Response{}}},
	}}
	if op.body != "" {
		out.Parameters = append(out.Parameters, bodyV2(op))
	}
	for _, code := range op.codes {
		s := scalar("string", "")
		if op.answer != "" {
			s = v2.ref(op.answer)
		}
		out.Responses.StatusCodeResponses[code] = spec.Response{ResponseProps: spec.ResponseProps{
			Description: http.StatusText(code), Schema: &s,
		}}
	}
	out.Extensions = op.extensions()
	return out
}

func bodyV2(op operation) spec.Parameter {
	s := v2.ref(op.body)
	return spec.Parameter{ParamProps: spec.ParamProps{
		Name: "body", In: "body", Required: op.method != http.MethodDelete, Schema: &s,
	}}
}

func parametersV2(params []parameter) []spec.Parameter {
	var out []spec.Parameter
	for _, p := range params {
		out = append(out, spec.Parameter{
			SimpleSchema:      spec.SimpleSchema{Type: p.kind},
			CommonValidations: spec.CommonValidations{UniqueItems: true}, // as Kubernetes has it
			ParamProps:        spec.ParamProps{Name: p.name, In: p.in, Description: p.doc, Required: p.required},
		})
	}
	return out
}
