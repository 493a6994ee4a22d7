// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package rpc

import (
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/structpb"
	"k8s.io/apimachinery/pkg/types"

	apipb "github.com/berth-run/berth/proto/berth/api/v1"
)

func manifestOf(t *testing.T, text string) *structpb.Struct {
	t.Helper()
	s := &structpb.Struct{}
	if err := s.UnmarshalJSON([]byte(text)); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestApplyAndPatch(t *testing.T) {
	configMaps := apipb.NewConfigMapsClient(dial(t, New(newRegistry(t), logs{}, Options{})))
	ctx := testContext(t)
	manifest := manifestOf(t, `{"metadata":{"name":"c"},"data":{"a":"1"},"dta":{}}`)

	_, err := configMaps.Apply(ctx, &apipb.ApplyRequest{Manifest: manifest, FieldManager: "m", FieldValidation: "Ignore"})
	if status.Code(err) != codes.InvalidArgument || !strings.Contains(err.Error(), ".dta: field not declared in schema") {
		t.Errorf("unknown field: %v", err)
	}
	delete(manifest.Fields, "dta")
	made, err := configMaps.Apply(ctx, &apipb.ApplyRequest{Manifest: manifest, FieldManager: "m"})
	if err != nil || !made.GetCreated() || made.GetConfigMap().GetMetadata().GetManagedFields()[0].GetManager() != "m" {
		t.Fatalf("%v, %v", err, made)
	}
	again, err := configMaps.Apply(ctx, &apipb.ApplyRequest{Manifest: manifest, FieldManager: "m"})
	if err != nil || again.GetCreated() {
		t.Errorf("%v, created %t", err, again.GetCreated())
	}
	patched, err := configMaps.Patch(ctx, &apipb.PatchRequest{Name: "c", Type: string(types.MergePatchType), Patch: []byte(`{"data":{"b":"2"}}`), AsManifest: true})
	if err != nil || patched.GetManifest().GetFields()["data"].GetStructValue().GetFields()["b"].GetStringValue() != "2" {
		t.Errorf("%v, %v", err, patched)
	}
	_, err = configMaps.Apply(ctx, &apipb.ApplyRequest{Manifest: manifestOf(t, `{"metadata":{"name":"c"},"data":{"a":"2"}}`), FieldManager: "other"})
	if status.Code(err) != codes.Aborted || !strings.Contains(err.Error(), `conflict with "m": .data.a`) {
		t.Errorf("conflict: %v", err)
	}
}

func TestPatchRefuses(t *testing.T) {
	configMaps := apipb.NewConfigMapsClient(dial(t, New(newRegistry(t), logs{}, Options{})))
	for name, tc := range map[string]struct {
		request *apipb.PatchRequest
		code    codes.Code
		message string
	}{
		"no name":             {&apipb.PatchRequest{Type: string(types.MergePatchType)}, codes.InvalidArgument, "name must be provided"},
		"no type":             {&apipb.PatchRequest{Name: "c"}, codes.InvalidArgument, "application/merge-patch+json"},
		"apply by nobody":     {&apipb.PatchRequest{Name: "c", Type: string(types.ApplyPatchType)}, codes.InvalidArgument, "fieldManager: Required value"},
		"unknown subresource": {&apipb.PatchRequest{Name: "c", Subresource: "scale"}, codes.InvalidArgument, `subresource "scale"`},
		"no status":           {&apipb.PatchRequest{Name: "c", Type: string(types.MergePatchType), Subresource: "status"}, codes.Unimplemented, "patch status"},
		"nothing there":       {&apipb.PatchRequest{Name: "c", Type: string(types.MergePatchType), Patch: []byte("{}")}, codes.NotFound, `configmaps "c" not found`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := configMaps.Patch(testContext(t), tc.request)
			if status.Code(err) != tc.code || !strings.Contains(err.Error(), tc.message) {
				t.Errorf("%v, want %s with %q", err, tc.code, tc.message)
			}
		})
	}
	if _, err := configMaps.Apply(testContext(t), &apipb.ApplyRequest{}); status.Code(err) != codes.InvalidArgument || !strings.Contains(err.Error(), "no manifest") {
		t.Errorf("empty apply: %v", err)
	}
}

func TestDeleteCollection(t *testing.T) {
	pods := apipb.NewPodsClient(dial(t, New(newRegistry(t), logs{}, Options{})))
	ctx := testContext(t)
	for _, name := range []string{"a", "b", "c", "d"} {
		pod := typedPod(name)
		pod.Metadata.Labels = map[string]string{"name": name}
		if _, err := pods.Create(ctx, &apipb.CreatePodRequest{Object: &apipb.CreatePodRequest_Pod{Pod: pod}}); err != nil {
			t.Fatal(err)
		}
	}
	deleted, err := pods.DeleteCollection(ctx, &apipb.DeleteCollectionRequest{Namespace: "default", LabelSelector: "name=a", GracePeriodSeconds: new(int64)})
	if err != nil || len(deleted.GetList().GetItems()) != 1 {
		t.Fatalf("%v, %v", err, deleted)
	}
	deleted, err = pods.DeleteCollection(ctx, &apipb.DeleteCollectionRequest{Namespace: "default", Limit: 1, GracePeriodSeconds: new(int64)})
	if err != nil || len(deleted.GetList().GetItems()) != 1 {
		t.Fatalf("%v, %v", err, deleted)
	}
	rest := deleted.GetList().GetMetadata().GetContinue()
	if _, err := pods.DeleteCollection(ctx, &apipb.DeleteCollectionRequest{Continue: "none"}); status.Code(err) != codes.InvalidArgument {
		t.Errorf("no such continue: %v", err)
	}
	if _, err := pods.DeleteCollection(ctx, &apipb.DeleteCollectionRequest{Namespace: "default", Limit: 1, Continue: rest, GracePeriodSeconds: new(int64)}); err != nil {
		t.Error(err)
	}
	left, err := pods.List(ctx, &apipb.ListRequest{})
	if err != nil || len(left.GetList().GetItems()) != 1 || left.GetList().GetItems()[0].GetMetadata().GetName() != "d" {
		t.Errorf("%v, left %v", err, left)
	}
}
