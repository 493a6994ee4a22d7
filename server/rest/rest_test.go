// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package rest

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-run/berth/server/registry"
	"github.com/berth-run/berth/server/rpc"
	"github.com/berth-run/berth/store/bolt"
)

// nodes are the registered ones.
type nodes map[string]bool

func (n nodes) Registered(name string) bool { return n[name] }

// logs answers every log with a text, and keeps what was asked.
type logs struct {
	text  io.ReadCloser
	asked *corev1.PodLogOptions
}

func (l *logs) Open(_ context.Context, _ *corev1.Pod, o *corev1.PodLogOptions) (io.ReadCloser, error) {
	l.asked = o
	return l.text, nil
}

// server is the whole API over a real store.
type server struct {
	*httptest.Server
	registry *registry.Registry
	logs     *logs
	store    *bolt.Store
}

// put stores a pod without the API.
func (s *server) put(t testing.TB, pod *corev1.Pod) {
	t.Helper()
	value, err := pod.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.store.Create(t.Context(), "pods/"+pod.Namespace+"/"+pod.Name, value); err != nil {
		t.Fatal(err)
	}
}

func newServer(t testing.TB) *server {
	t.Helper()
	store, err := bolt.Open(filepath.Join(t.TempDir(), "berth.db"), bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	s := &server{store: store, registry: registry.New(store, registry.Options{Nodes: nodes{"n1": true}}), logs: &logs{text: http.NoBody}}
	if err := s.registry.EnsureDefaults(t.Context()); err != nil {
		t.Fatal(err)
	}
	metrics := prometheus.NewRegistry()
	h, err := New(rpc.New(s.registry, s.logs, rpc.Options{Metrics: metrics, Tokens: tokens{}}), Options{Metrics: metrics, Gatherer: metrics, Revision: store.Head, TokenKeys: map[string]string{"keys": "public"}})
	if err != nil {
		t.Fatal(err)
	}
	s.Server = httptest.NewServer(LoopbackOnly(h))
	t.Cleanup(s.Close)
	return s
}

// call sends a request; header is pairs of names and values.
func (s *server) call(t testing.TB, method, path, body string, header ...string) (*http.Response, []byte) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, s.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
		if header[i] == "Host" {
			req.Host = header[i+1]
		}
	}
	resp, err := s.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, answer
}

// do is call for requests that must succeed with that code; it decodes the
// answer into out.
func (s *server) do(t testing.TB, method, path, body string, code int, out any, header ...string) *http.Response {
	t.Helper()
	resp, answer := s.call(t, method, path, body, header...)
	if resp.StatusCode != code {
		t.Fatalf("%s %s: %d %s, want %d", method, path, resp.StatusCode, answer, code)
	}
	if err := json.Unmarshal(answer, out); err != nil {
		t.Fatalf("%s %s: %v in %s", method, path, err, answer)
	}
	return resp
}

const podPath = "/api/v1/namespaces/default/pods"

// podJSON is a pod with a volume, an env and a quantity: what Kubernetes inlines.
func podJSON(name string) string {
	return `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"` + name + `","labels":{"app":"web"}},
	"spec":{"nodeName":"n1","volumes":[{"name":"data","emptyDir":{"medium":"Memory","sizeLimit":"1Gi"}}],
	"containers":[{"name":"c","image":"nginx:1.14.2","env":[{"name":"A","value":"1"},
	{"name":"IP","valueFrom":{"fieldRef":{"fieldPath":"status.podIP"}}}],
	"ports":[{"containerPort":80}],"volumeMounts":[{"name":"data","mountPath":"/data"}]}]}}`
}

func TestLifeOfAPod(t *testing.T) {
	s := newServer(t)

	var pod corev1.Pod
	resp := s.do(t, "POST", podPath, podJSON("web"), 201, &pod)
	if pod.UID == "" || pod.ResourceVersion == "" || pod.Namespace != "default" {
		t.Errorf("metadata: %+v", pod.ObjectMeta)
	}
	if pod.APIVersion != "v1" || pod.Kind != "Pod" || resp.Header.Get("Content-Type") != "application/json" {
		t.Errorf("type: %+v, %s", pod.TypeMeta, resp.Header.Get("Content-Type"))
	}
	if v := pod.Spec.Volumes[0]; v.EmptyDir == nil || v.EmptyDir.SizeLimit.String() != "1Gi" {
		t.Errorf("volume: %+v", v)
	}
	if e := pod.Spec.Containers[0].Env; e[0].Value != "1" || e[1].ValueFrom.FieldRef.FieldPath != "status.podIP" {
		t.Errorf("env: %+v", e)
	}

	var got corev1.Pod
	s.do(t, "GET", podPath+"/web", "", 200, &got)
	if got.UID != pod.UID || got.ResourceVersion != pod.ResourceVersion {
		t.Errorf("got %s at %s, want %s at %s", got.UID, got.ResourceVersion, pod.UID, pod.ResourceVersion)
	}

	got.Labels["tier"] = "front"
	body, _ := json.Marshal(got)
	var updated corev1.Pod
	s.do(t, "PUT", podPath+"/web", string(body), 200, &updated)
	if updated.Labels["tier"] != "front" || updated.ResourceVersion == got.ResourceVersion {
		t.Errorf("updated: %+v", updated.ObjectMeta)
	}

	updated.Status.Phase = corev1.PodRunning
	body, _ = json.Marshal(updated)
	var withStatus corev1.Pod
	s.do(t, "PUT", podPath+"/web/status", string(body), 200, &withStatus)
	s.do(t, "GET", podPath+"/web/status", "", 200, &withStatus)
	if withStatus.Status.Phase != corev1.PodRunning {
		t.Errorf("phase %q", withStatus.Status.Phase)
	}

	var list corev1.PodList
	s.do(t, "GET", "/api/v1/pods?labelSelector=tier%3Dfront&fieldSelector=metadata.name%3Dweb", "", 200, &list)
	if len(list.Items) != 1 || list.Kind != "PodList" || list.ResourceVersion == "" {
		t.Errorf("list: %d items, %+v %+v", len(list.Items), list.TypeMeta, list.ListMeta)
	}

	var deleting corev1.Pod
	s.do(t, "DELETE", podPath+"/web", `{"gracePeriodSeconds":7}`, 200, &deleting)
	if deleting.DeletionTimestamp == nil || *deleting.DeletionGracePeriodSeconds != 7 {
		t.Errorf("deleting: %+v", deleting.ObjectMeta)
	}
	s.do(t, "DELETE", podPath+"/web?gracePeriodSeconds=0", "", 200, &deleting)
	if resp, body := s.call(t, "GET", podPath+"/web", ""); resp.StatusCode != 404 {
		t.Errorf("after a forced delete: %d %s", resp.StatusCode, body)
	}
}

func TestEveryKind(t *testing.T) {
	s := newServer(t)
	for path, object := range map[string]string{
		"/api/v1/nodes":                              `{"metadata":{"name":"x"}}`,
		"/api/v1/namespaces":                         `{"metadata":{"name":"x"}}`,
		"/api/v1/namespaces/default/secrets":         `{"metadata":{"name":"x"},"stringData":{"a":"b"}}`,
		"/api/v1/namespaces/default/configmaps":      `{"metadata":{"name":"x"},"data":{"a":"b"}}`,
		"/api/v1/namespaces/default/serviceaccounts": `{"metadata":{"name":"x"}}`,
		"/api/v1/namespaces/default/events":          `{"metadata":{"name":"x"},"involvedObject":{"kind":"Pod","namespace":"default","name":"p"},"reason":"Started"}`,
		"/api/v1/namespaces/default/pods":            podJSON("x"),
	} {
		t.Run(path, func(t *testing.T) {
			var obj, list struct {
				metav1.TypeMeta
				Metadata metav1.ObjectMeta
				Items    []json.RawMessage
			}
			s.do(t, "POST", path, object, 201, &obj)
			s.do(t, "GET", path, "", 200, &list)
			if len(list.Items) == 0 || list.Kind != obj.Kind+"List" {
				t.Errorf("list %s of %d", list.Kind, len(list.Items))
			}
			s.do(t, "PUT", path+"/x", object, 200, &obj)
			s.do(t, "GET", path+"/x", "", 200, &obj)
			s.do(t, "DELETE", path+"/x?gracePeriodSeconds=0", "", 200, &obj)
		})
	}
}

func TestEmptyListHasItems(t *testing.T) {
	s := newServer(t)
	if _, body := s.call(t, "GET", podPath, ""); !bytes.Contains(body, []byte(`"items":[]`)) {
		t.Errorf("list: %s", body)
	}
}

func TestBinding(t *testing.T) {
	s := newServer(t)
	var pod corev1.Pod
	s.do(t, "POST", podPath, strings.Replace(podJSON("free"), `"nodeName":"n1",`, "", 1), 201, &pod)

	var status metav1.Status
	s.do(t, "POST", podPath+"/free/binding",
		`{"apiVersion":"v1","kind":"Binding","metadata":{"name":"free"},"target":{"kind":"Node","name":"n1"}}`, 201, &status)
	if status.Status != metav1.StatusSuccess || status.Kind != "Status" {
		t.Errorf("status: %+v", status)
	}
	s.do(t, "GET", podPath+"/free", "", 200, &pod)
	if pod.Spec.NodeName != "n1" {
		t.Errorf("nodeName %q", pod.Spec.NodeName)
	}
}

func TestWarnings(t *testing.T) {
	s := newServer(t)
	var pod corev1.Pod
	object := strings.Replace(podJSON("warned"), `"nodeName":"n1"`, `"nodeName":"nowhere","colour":"red"`, 1)
	got := strings.Join(s.do(t, "POST", podPath, object, 201, &pod).Header.Values("Warning"), "\n")
	for _, want := range []string{`299 - "`, `spec.colour`, `nowhere`} {
		if !strings.Contains(got, want) {
			t.Errorf("warnings lack %q:\n%s", want, got)
		}
	}
}

func TestYAML(t *testing.T) {
	s := newServer(t)
	manifest := "# a comment\n---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: yam\ndata:\n  key: \"1\"\n"
	resp, body := s.call(t, "POST", "/api/v1/namespaces/default/configmaps", manifest,
		"Content-Type", "application/yaml", "Accept", "application/yaml")
	if resp.StatusCode != 201 || resp.Header.Get("Content-Type") != "application/yaml" {
		t.Fatalf("%d %s %s", resp.StatusCode, resp.Header.Get("Content-Type"), body)
	}
	if !bytes.Contains(body, []byte("kind: ConfigMap")) || !bytes.Contains(body, []byte(`key: "1"`)) {
		t.Errorf("body: %s", body)
	}
}

func TestPrettyForPeople(t *testing.T) {
	s := newServer(t)
	indented := func(path string, header ...string) bool {
		_, body := s.call(t, "GET", path, "", header...)
		return bytes.Contains(body, []byte("\n  \"kind\""))
	}
	if !indented("/api/v1/namespaces", "User-Agent", "curl/8.5.0") || !indented("/api/v1/namespaces?pretty=true") {
		t.Error("not indented for people")
	}
	if indented("/api/v1/namespaces", "User-Agent", "kubectl") || indented("/api/v1/namespaces?pretty=false", "User-Agent", "curl/8.5.0") {
		t.Error("indented for programs")
	}
}
