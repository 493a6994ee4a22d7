// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package rest

import (
	"cmp"
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"slices"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-run/berth/api"
	apipb "github.com/berth-run/berth/proto/berth/api/v1"
)

// patchTypes are the media types that a PATCH may have.
var patchTypes = []string{
	string(types.JSONPatchType), string(types.MergePatchType), string(types.StrategicMergePatchType), string(types.ApplyYAMLPatchType),
}

// servePatch serves PATCH beside the gateway: a patch is no message, and its
// meaning lies in its media type. It calls the same services.
func servePatch(conn grpc.ClientConnInterface) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		q, err := newRequest(w, r)
		if err != nil {
			writeError(w, r, err)
			return
		}
		r = q.attach(r)
		if err := patch(conn, w, r, q); err != nil {
			writeError(w, r, err)
		}
	}
}

func patch(conn grpc.ClientConnInterface, w http.ResponseWriter, r *http.Request, q *request) error {
	t, ok := parsePath(r.URL.Path)
	switch {
	case !ok, t.subresource != "" && !patchable(t):
		return notFoundPath()
	case t.name == "":
		return methodNotAllowed(r.Method)
	}
	req, err := patchRequest(r, q, t)
	if err != nil {
		return err
	}
	reply, err := invoke(r.Context(), conn, t.kind, "Patch", req)
	if err != nil {
		return err
	}
	return answer(r.Context(), w, q, reply)
}

// patchable tells whether the subresource can be patched.
func patchable(t target) bool {
	return slices.ContainsFunc(t.kind.Subresources(), func(s api.Subresource) bool {
		return s.Name == t.subresource && slices.Contains(s.Verbs, "patch")
	})
}

func patchRequest(r *http.Request, q *request, t target) (*apipb.PatchRequest, error) {
	contentType, _, err := mime.ParseMediaType(q.contentType)
	if err != nil || !slices.Contains(patchTypes, contentType) {
		return nil, unsupportedMediaType(q.contentType, patchTypes...)
	}
	body, err := q.readAll()
	if errors.Is(err, io.EOF) {
		err = apierrors.NewBadRequest("the request has no body: it must be the patch")
	}
	if err != nil {
		return nil, err
	}
	query := r.URL.Query()
	parameters := queryReader{values: query}
	req := &apipb.PatchRequest{
		Namespace:       t.namespace,
		Name:            t.name,
		Subresource:     t.subresource,
		Type:            contentType,
		Patch:           body,
		FieldManager:    query.Get(managerParameter),
		Force:           parameters.bool("force"),
		FieldValidation: q.fieldValidation,
		DryRun:          query["dryRun"],
	}
	if contentType != string(types.ApplyYAMLPatchType) {
		req.FieldManager = cmp.Or(req.FieldManager, userAgentManager(r))
	}
	return req, parameters.err
}

// invoke calls a method of a kind's service that answers with one object.
func invoke(ctx context.Context, conn grpc.ClientConnInterface, k *api.Kind, method string, req proto.Message) (proto.Message, error) {
	service := protoreflect.FullName("berth.api.v1")
	object, err := protoregistry.GlobalTypes.FindMessageByName(service + protoreflect.FullName("."+k.Name+"Object"))
	if err != nil {
		return nil, err
	}
	reply := object.New().Interface()
	return reply, conn.Invoke(ctx, "/"+string(service)+"."+k.Service()+"/"+method, req, reply)
}

// answer writes a reply as the gateway does.
func answer(ctx context.Context, w http.ResponseWriter, q *request, reply proto.Message) error {
	content, err := unwrap(ctx, reply)
	if err != nil {
		return err
	}
	addAllWarnings(w.Header(), q, reply)
	code := http.StatusOK
	if r, ok := reply.(interface{ GetCreated() bool }); ok && r.GetCreated() {
		code = http.StatusCreated
	}
	return q.write(w, content, code)
}
