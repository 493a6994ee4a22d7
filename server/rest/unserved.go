// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package rest

import (
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/berth-run/berth/api"
)

// unserved returns the answer to a request for a part of an object that berth knows
// and does not serve, such as a pod's exec; nil for every other request.
func unserved(r *http.Request) error {
	t, ok := parsePath(r.URL.Path)
	if !ok {
		return nil
	}
	instead, ok := api.UnservedSubresource(t.kind, t.subresource)
	if !ok {
		return nil
	}
	part := t.kind.GroupResource()
	part.Resource += "/" + t.subresource
	return refusal(part, r.Method, instead)
}

// refusal of what berth never does, which says what to do instead.
func refusal(what schema.GroupResource, method, instead string) error {
	err := apierrors.NewMethodNotSupported(what, method)
	err.ErrStatus.Message = instead
	return err
}
