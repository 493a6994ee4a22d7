// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package rpc

import (
	"context"
	"errors"
	"io"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/wrapperspb"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/berth-run/berth/api"
	apipb "github.com/berth-run/berth/proto/berth/api/v1"
	corepb "github.com/berth-run/berth/proto/berth/core/v1"
	"github.com/berth-run/berth/server/apierror"
	"github.com/berth-run/berth/server/registry"
	"github.com/berth-run/berth/store/bolt"
)

// nodes are the registered ones.
type nodes map[string]bool

func (n nodes) Registered(name string) bool { return n[name] }

type logs struct{ text string }

func (l logs) Open(context.Context, *corev1.Pod, *corev1.PodLogOptions) (io.ReadCloser, error) {
	return io.NopCloser(strings.NewReader(l.text)), nil
}

func newRegistry(t testing.TB) *registry.Registry {
	t.Helper()
	store, err := bolt.Open(filepath.Join(t.TempDir(), "berth.db"), bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	reg := registry.New(store, registry.Options{Nodes: nodes{"n1": true}})
	if err := reg.EnsureDefaults(t.Context()); err != nil {
		t.Fatal(err)
	}
	return reg
}

// dial serves s over real gRPC and connects to it.
func dial(t testing.TB, s *Server) *grpc.ClientConn {
	t.Helper()
	server := grpc.NewServer(s.ServerOptions()...)
	s.Register(server)
	l := bufconn.Listen(1 << 20)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(l)
	}()
	t.Cleanup(func() { server.Stop(); <-done })
	conn, err := grpc.NewClient("passthrough:///berth",
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return l.DialContext(ctx) }),
		grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

func testContext(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	t.Cleanup(cancel)
	return ctx
}

func typedPod(name string) *corepb.Pod {
	return &corepb.Pod{
		Metadata: &corepb.ObjectMeta{Name: name},
		Spec: &corepb.PodSpec{
			NodeName: "n1",
			Containers: []*corepb.Container{{
				Name: "c", Image: "nginx:1.14.2",
				Resources: &corepb.ResourceRequirements{Requests: map[string]*wrapperspb.StringValue{"cpu": {Value: "100m"}}},
			}},
		},
	}
}

func TestTyped(t *testing.T) {
	pods := apipb.NewPodsClient(dial(t, New(newRegistry(t), logs{}, Options{})))
	ctx := testContext(t)

	created, err := pods.Create(ctx, &apipb.CreatePodRequest{Object: &apipb.CreatePodRequest_Pod{Pod: typedPod("web")}})
	if err != nil {
		t.Fatal(err)
	}
	pod := created.GetPod()
	if pod.GetMetadata().GetUid() == "" || pod.GetMetadata().GetNamespace() != "default" {
		t.Errorf("metadata: %v", pod.GetMetadata())
	}
	if got := pod.GetSpec().GetContainers()[0].GetResources().GetRequests()["cpu"].GetValue(); got != "100m" {
		t.Errorf("cpu %q", got)
	}

	pod.Metadata.Labels = map[string]string{"a": "b"}
	updated, err := pods.Update(ctx, &apipb.UpdatePodRequest{Object: &apipb.UpdatePodRequest_Pod{Pod: pod}})
	if err != nil {
		t.Fatal(err)
	}
	got, err := pods.Get(ctx, &apipb.GetRequest{Name: "web"})
	if err != nil {
		t.Fatal(err)
	}
	if got.GetPod().GetMetadata().GetResourceVersion() != updated.GetPod().GetMetadata().GetResourceVersion() {
		t.Errorf("got %v, want %v", got.GetPod().GetMetadata(), updated.GetPod().GetMetadata())
	}
	list, err := pods.List(ctx, &apipb.ListRequest{LabelSelector: "a=b"})
	if err != nil || len(list.GetList().GetItems()) != 1 || list.GetList().GetMetadata().GetResourceVersion() == "" {
		t.Errorf("list: %v, %v", list, err)
	}
	if _, err := pods.Delete(ctx, &apipb.DeleteRequest{Name: "web", Options: &corepb.DeleteOptions{GracePeriodSeconds: new(int64)}}); err != nil {
		t.Fatal(err)
	}
	if _, err := pods.Get(ctx, &apipb.GetRequest{Name: "web"}); status.Code(err) != codes.NotFound {
		t.Errorf("after a forced delete: %v", err)
	}
}

// manifest has large numbers, which a Struct keeps as floats.
func manifest(t testing.TB, name string) *structpb.Struct {
	t.Helper()
	s := &structpb.Struct{}
	if err := s.UnmarshalJSON([]byte(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"` + name + `"},"spec":{
		"nodeName":"n1","activeDeadlineSeconds":1000000,"volumes":[{"name":"d","configMap":{"name":"web"}}],
		"containers":[{"name":"c","image":"i","env":[{"name":"A","value":"b"}],"volumeMounts":[{"name":"d","mountPath":"/d"}]}]}}`)); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestManifest(t *testing.T) {
	pods := apipb.NewPodsClient(dial(t, New(newRegistry(t), logs{}, Options{})))
	ctx := testContext(t)

	created, err := pods.Create(ctx, &apipb.CreatePodRequest{
		Object: &apipb.CreatePodRequest_Manifest{Manifest: manifest(t, "web")}, AsManifest: true})
	if err != nil {
		t.Fatal(err)
	}
	obj := created.GetManifest().AsMap()
	spec, _ := obj["spec"].(map[string]any)
	if obj["kind"] != "Pod" || obj["apiVersion"] != "v1" || spec["activeDeadlineSeconds"] != 1e6 {
		t.Errorf("manifest: %v", obj)
	}
	got, err := pods.Get(ctx, &apipb.GetRequest{Namespace: "default", Name: "web"})
	if err != nil {
		t.Fatal(err)
	}
	source := got.GetPod().GetSpec().GetVolumes()[0].GetVolumeSource()
	if source.GetConfigMap().GetLocalObjectReference().GetName() != "web" || got.GetPod().GetSpec().GetActiveDeadlineSeconds() != 1e6 {
		t.Errorf("pod: %v", got.GetPod().GetSpec())
	}
	list, err := pods.List(ctx, &apipb.ListRequest{AsManifest: true})
	if err != nil || list.GetManifest().AsMap()["kind"] != "PodList" {
		t.Errorf("list: %v, %v", list, err)
	}
}

func TestManifestWarnings(t *testing.T) {
	pods := apipb.NewPodsClient(dial(t, New(newRegistry(t), logs{}, Options{})))
	m := manifest(t, "web")
	m.Fields["spec"].GetStructValue().Fields["colour"] = structpb.NewStringValue("red")

	req := &apipb.CreatePodRequest{Object: &apipb.CreatePodRequest_Manifest{Manifest: m}, FieldValidation: "Strict"}
	_, err := pods.Create(testContext(t), req)
	if s := apierror.From(err); !apierrors.IsBadRequest(s) || !strings.Contains(s.Error(), "spec.colour") {
		t.Errorf("strict: %v", err)
	}
	req.FieldValidation = ""
	created, err := pods.Create(testContext(t), req)
	if err != nil || !strings.Contains(strings.Join(created.GetWarnings(), "\n"), "spec.colour") {
		t.Errorf("warnings: %v, %v", created.GetWarnings(), err)
	}
}

// TestErrors: gRPC carries Kubernetes' whole Status, and what comes out at the
// client is what the registry said.
func TestErrors(t *testing.T) {
	pods := apipb.NewPodsClient(dial(t, New(newRegistry(t), logs{}, Options{})))
	ctx := testContext(t)
	create := func(pod *corepb.Pod) error {
		_, err := pods.Create(ctx, &apipb.CreatePodRequest{Object: &apipb.CreatePodRequest_Pod{Pod: pod}})
		return err
	}
	_, noObject := pods.Create(ctx, &apipb.CreatePodRequest{})
	if err := create(typedPod("taken")); err != nil {
		t.Fatal(err)
	}
	badQuantity := typedPod("a")
	badQuantity.Spec.Containers[0].Resources.Requests["cpu"].Value = "much"
	elsewhere := typedPod("a")
	elsewhere.Metadata.Namespace = "nowhere"
	tests := []struct {
		name string
		err  error
		code codes.Code
		http int32
		text string
	}{
		{"taken", create(typedPod("taken")), codes.AlreadyExists, 409, `pods "taken" already exists`},
		{"invalid", create(typedPod("Not_A_Name")), codes.InvalidArgument, 422, "metadata.name"},
		{"nothing", noObject, codes.InvalidArgument, 400, "carries no Pod"},
		{"bad quantity", create(badQuantity), codes.InvalidArgument, 400, "quantities"},
		{"wrong kind", create(&corepb.Pod{Kind: "Secret"}), codes.InvalidArgument, 400, "cannot be handled as a Pod"},
		{"unknown namespace", create(elsewhere), codes.NotFound, 404, `namespaces "nowhere"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := apierror.From(tt.err)
			if tt.err == nil || status.Code(tt.err) != tt.code || s.ErrStatus.Code != tt.http || !strings.Contains(s.Error(), tt.text) {
				t.Errorf("%v, want %s, %d, %q", tt.err, tt.code, tt.http, tt.text)
			}
		})
	}
}

func TestWatch(t *testing.T) {
	reg := newRegistry(t)
	pods := apipb.NewPodsClient(dial(t, New(reg, logs{}, Options{})))
	ctx := testContext(t)
	stream, err := pods.Watch(ctx, &apipb.WatchRequest{AsManifest: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := stream.Header(); err != nil { // comes before any event
		t.Fatal(err)
	}
	if _, err := pods.Create(ctx, &apipb.CreatePodRequest{Object: &apipb.CreatePodRequest_Pod{Pod: typedPod("web")}}); err != nil {
		t.Fatal(err)
	}
	e, err := stream.Recv()
	if err != nil || e.GetType() != "ADDED" || e.GetManifest().AsMap()["kind"] != "Pod" {
		t.Errorf("event: %v, %v", e, err)
	}
}

func TestWatchBookmark(t *testing.T) {
	pods := apipb.NewPodsClient(dial(t, New(newRegistry(t), logs{}, Options{})))
	stream, err := pods.Watch(testContext(t), &apipb.WatchRequest{AllowWatchBookmarks: true, TimeoutSeconds: 1})
	if err != nil {
		t.Fatal(err)
	}
	e, err := stream.Recv()
	if err != nil || e.GetType() != "BOOKMARK" || e.GetPod().GetMetadata().GetResourceVersion() == "" {
		t.Errorf("event: %v, %v", e, err)
	}
	if e, err := stream.Recv(); !errors.Is(err, io.EOF) {
		t.Errorf("after timeoutSeconds: %v, %v", e, err)
	}
}

func TestWatchExpired(t *testing.T) {
	pods := apipb.NewPodsClient(dial(t, New(newRegistry(t), logs{}, Options{})))
	stream, err := pods.Watch(testContext(t), &apipb.WatchRequest{ResourceVersion: "9007199254740000"})
	if err != nil {
		t.Fatal(err)
	}
	e, err := stream.Recv()
	if err != nil || e.GetType() != "ERROR" || e.GetStatus().GetCode() != 410 || e.GetStatus().GetReason() != "Expired" {
		t.Errorf("event: %v, %v", e, err)
	}
	if _, err := stream.Recv(); !errors.Is(err, io.EOF) {
		t.Errorf("after the error: %v", err)
	}
}

func TestBindAndLog(t *testing.T) {
	text := strings.Repeat("line\n", 20000) // more than one chunk
	pods := apipb.NewPodsClient(dial(t, New(newRegistry(t), logs{text}, Options{})))
	ctx := testContext(t)
	free := typedPod("free")
	free.Spec.NodeName = ""
	if _, err := pods.Create(ctx, &apipb.CreatePodRequest{Object: &apipb.CreatePodRequest_Pod{Pod: free}}); err != nil {
		t.Fatal(err)
	}
	bound, err := pods.Bind(ctx, &apipb.BindPodRequest{Name: "free", Binding: &corepb.Binding{Target: &corepb.ObjectReference{Kind: "Node", Name: "n1"}}})
	if err != nil || bound.GetStatus().GetStatus() != "Success" {
		t.Fatalf("%v, %v", bound, err)
	}
	stream, err := pods.Log(ctx, &apipb.PodLogRequest{Name: "free"})
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for {
		chunk, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		got.Write(chunk.GetData())
	}
	if diff := cmp.Diff(len(text), got.Len()); diff != "" || got.String() != text {
		t.Errorf("log differs: %s", diff)
	}
}

// TestPanic: a panic in a call is that call's error, and the next call is served.
func TestPanic(t *testing.T) {
	conn := dial(t, New(nil, logs{}, Options{}))
	_, err := apipb.NewPodsClient(conn).Get(testContext(t), &apipb.GetRequest{Name: "a"})
	if status.Code(err) != codes.Internal {
		t.Errorf("%v", err)
	}
	if got, err := healthpb.NewHealthClient(conn).Check(testContext(t), &healthpb.HealthCheckRequest{}); err != nil || got.Status != healthpb.HealthCheckResponse_SERVING {
		t.Errorf("health: %v, %v", got, err)
	}
}

// TestEveryKindIsServed: a row of the table that nobody registered would only be
// missed by its first user.
func TestEveryKindIsServed(t *testing.T) {
	server := grpc.NewServer()
	New(nil, logs{}, Options{}).Register(server)
	for _, k := range api.Kinds {
		if _, ok := server.GetServiceInfo()["berth.api.v1."+k.Service()]; !ok {
			t.Errorf("no service for %s", k.Name)
		}
	}
}
