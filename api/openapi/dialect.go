// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package openapi

import "k8s.io/kube-openapi/pkg/validation/spec"

// dialect is a version of OpenAPI, as far as schemas differ in it. It is the
// place where the schemas of a document stand.
type dialect string

const (
	v2 dialect = "#/definitions/"
	v3 dialect = "#/components/schemas/"
)

func (d dialect) ref(name string) spec.Schema {
	return spec.Schema{SchemaProps: spec.SchemaProps{Ref: spec.MustCreateRef(string(d) + name)}}
}

// describeRef prepares a reference for a description of its own. Beside a $ref,
// version 3 ignores everything.
func (d dialect) describeRef(s spec.Schema, description string) spec.Schema {
	if d == v2 || description == "" {
		return s
	}
	return spec.Schema{SchemaProps: spec.SchemaProps{AllOf: []spec.Schema{s}}}
}
