// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package rest

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"io"
	"net/http"
	"testing"
	"time"

	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// testWatch is a watch as curl sees it.
type testWatch struct {
	t    *testing.T
	resp *http.Response
	dec  *json.Decoder
	end  context.CancelFunc
}

func (s *server) watch(t *testing.T, path string, header ...string) *testWatch {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	t.Cleanup(cancel)
	req, err := http.NewRequestWithContext(ctx, "GET", s.URL+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := s.Client().Do(req) // returns when the header is here
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	return &testWatch{t: t, resp: resp, dec: json.NewDecoder(resp.Body), end: cancel}
}

type event struct {
	Type   string
	Object json.RawMessage
}

func (w *testWatch) next() (event, corev1.Pod) {
	w.t.Helper()
	var e event
	var pod corev1.Pod
	if err := w.dec.Decode(&e); err != nil {
		w.t.Fatal(err)
	}
	if err := json.Unmarshal(e.Object, &pod); err != nil {
		w.t.Fatal(err)
	}
	return e, pod
}

func (w *testWatch) want(kind, name string) corev1.Pod {
	w.t.Helper()
	e, pod := w.next()
	if e.Type != kind || pod.Name != name || pod.Kind != "Pod" || pod.APIVersion != "v1" {
		w.t.Fatalf("event %s of %s %q, want %s of %q: %s", e.Type, pod.Kind, pod.Name, kind, name, e.Object)
	}
	return pod
}

func TestWatch(t *testing.T) {
	s := newServer(t)
	var pod corev1.Pod
	s.do(t, "POST", podPath, podJSON("before"), 201, &pod)

	w := s.watch(t, podPath+"?watch=true")
	w.want("ADDED", "before")
	s.do(t, "POST", podPath, podJSON("after"), 201, &pod)
	w.want("ADDED", "after")
	s.do(t, "DELETE", podPath+"/after", "", 200, &pod)
	if got := w.want("MODIFIED", "after"); got.DeletionTimestamp == nil {
		t.Error("no deletion timestamp")
	}
	s.do(t, "DELETE", podPath+"/after?gracePeriodSeconds=0", "", 200, &pod)
	w.want("MODIFIED", "after")
	w.want("DELETED", "after")
}

// TestWatchSendsHeaderAtOnce: a watch of nothing answers before there is an
// event, or clients wait for its header until they time out.
func TestWatchSendsHeaderAtOnce(t *testing.T) {
	s := newServer(t)
	w := s.watch(t, podPath+"?watch=1")
	if w.resp.StatusCode != 200 || w.resp.Header.Get("Content-Type") != "application/json" {
		t.Errorf("%d %s", w.resp.StatusCode, w.resp.Header.Get("Content-Type"))
	}
	if got := w.resp.TransferEncoding; len(got) != 1 || got[0] != "chunked" {
		t.Errorf("transfer encoding %v", got)
	}
}

func TestWatchResumesFromAList(t *testing.T) {
	s := newServer(t)
	var pod corev1.Pod
	var list corev1.PodList
	s.do(t, "POST", podPath, podJSON("a"), 201, &pod)
	s.do(t, "GET", podPath, "", 200, &list)
	s.do(t, "POST", podPath, podJSON("b"), 201, &pod)

	w := s.watch(t, podPath+"?watch=true&allowWatchBookmarks=true&resourceVersion="+list.ResourceVersion)
	w.want("ADDED", "b")
}

func TestWatchOfOneName(t *testing.T) {
	s := newServer(t)
	var pod corev1.Pod
	for _, name := range []string{"a", "ab", "b"} {
		s.do(t, "POST", podPath, podJSON(name), 201, &pod)
	}
	s.watch(t, podPath+"?watch=true&fieldSelector=metadata.name%3Db").want("ADDED", "b")
	w := s.watch(t, "/api/v1/watch/namespaces/default/pods/a")
	w.want("ADDED", "a")
	s.do(t, "DELETE", podPath+"/ab?gracePeriodSeconds=0", "", 200, &pod)
	s.do(t, "DELETE", podPath+"/a?gracePeriodSeconds=0", "", 200, &pod)
	w.want("MODIFIED", "a")
	w.want("DELETED", "a")
}

func TestWatchEndsAfterTimeoutSeconds(t *testing.T) {
	s := newServer(t)
	w := s.watch(t, podPath+"?watch=true&timeoutSeconds=1")
	if rest, err := io.ReadAll(w.resp.Body); err != nil || len(rest) > 0 {
		t.Errorf("the watch ended with %q, %v", rest, err)
	}
}

// TestWatchFromTheFuture: a version that the store never assigned, such as one
// of before a restore, ends the watch with 410, and the client lists again.
func TestWatchFromTheFuture(t *testing.T) {
	s := newServer(t)
	w := s.watch(t, podPath+"?watch=true&resourceVersion=9007199254740000")
	var e event
	var status metav1.Status
	if err := w.dec.Decode(&e); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(e.Object, &status); err != nil {
		t.Fatal(err)
	}
	if e.Type != "ERROR" || status.Code != 410 || status.Reason != metav1.StatusReasonExpired || status.Kind != "Status" {
		t.Errorf("event %s: %+v", e.Type, status)
	}
	if err := w.dec.Decode(&e); err != io.EOF {
		t.Errorf("after the error: %v", err)
	}
}

// TestWatchLeavesNothingBehind: a client that goes away ends all that ran for it.
func TestWatchLeavesNothingBehind(t *testing.T) {
	s := newServer(t)
	before := goleak.IgnoreCurrent()
	w := s.watch(t, podPath+"?watch=true")
	w.end()
	w.resp.Body.Close()
	s.Client().CloseIdleConnections()
	goleak.VerifyNone(t, before)
}

// TestWatchInProtobuf reads what client-go's typed clients read.
func TestWatchInProtobuf(t *testing.T) {
	s := newServer(t)
	var pod corev1.Pod
	s.do(t, "POST", podPath, podJSON("a"), 201, &pod)

	w := s.watch(t, podPath+"?watch=true", "Accept", "application/vnd.kubernetes.protobuf;stream=watch")
	if got := w.resp.Header.Get("Content-Type"); got != "application/vnd.kubernetes.protobuf;stream=watch" {
		t.Errorf("content type %s", got)
	}
	body := bufio.NewReader(w.resp.Body)
	var length [4]byte
	if _, err := io.ReadFull(body, length[:]); err != nil {
		t.Fatal(err)
	}
	frame := make([]byte, binary.BigEndian.Uint32(length[:]))
	if _, err := io.ReadFull(body, frame); err != nil {
		t.Fatal(err)
	}
	var e metav1.WatchEvent
	if err := e.Unmarshal(frame); err != nil {
		t.Fatal(err)
	}
	if got := podOf(t, e.Object.Raw); e.Type != "ADDED" || got.UID != pod.UID {
		t.Errorf("event %s of %s", e.Type, got.UID)
	}
}
