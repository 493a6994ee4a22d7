// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package rest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiversion "k8s.io/apimachinery/pkg/version"
	"k8s.io/utils/ptr"

	"github.com/berth-run/berth/server/rpc"
)

func TestLog(t *testing.T) {
	s := newServer(t)
	var pod corev1.Pod
	s.do(t, "POST", podPath, podJSON("web"), 201, &pod)
	s.logs.text = io.NopCloser(strings.NewReader("one\ntwo\n"))

	resp, body := s.call(t, "GET", podPath+"/web/log?container=c&follow=true&previous=false&timestamps=1&tailLines=5&sinceSeconds=60&limitBytes=100", "")
	if resp.StatusCode != 200 || resp.Header.Get("Content-Type") != "text/plain" || string(body) != "one\ntwo\n" {
		t.Errorf("%d %s %q", resp.StatusCode, resp.Header.Get("Content-Type"), body)
	}
	want := &corev1.PodLogOptions{Container: "c", Follow: true, Timestamps: true,
		TailLines: ptr.To[int64](5), SinceSeconds: ptr.To[int64](60), LimitBytes: ptr.To[int64](100)}
	if diff := cmp.Diff(want, s.logs.asked); diff != "" {
		t.Error(diff)
	}
}

// TestLogIsFlushed: with follow, a line is there when it was written, not when a
// buffer is full.
func TestLogIsFlushed(t *testing.T) {
	s := newServer(t)
	var pod corev1.Pod
	s.do(t, "POST", podPath, podJSON("web"), 201, &pod)
	r, w := io.Pipe()
	s.logs.text = r

	resp, err := s.Client().Get(s.URL + podPath + "/web/log?follow=true")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	for _, line := range []string{"one\n", "two\n"} {
		if _, err := io.WriteString(w, line); err != nil {
			t.Fatal(err)
		}
		got := make([]byte, len(line))
		if _, err := io.ReadFull(resp.Body, got); err != nil || string(got) != line {
			t.Fatalf("%q, %v", got, err)
		}
	}
	// A log that breaks must not look like one that ended.
	w.CloseWithError(errors.New("the node is gone"))
	if _, err := io.ReadAll(resp.Body); err == nil {
		t.Error("a broken log ended like a whole one")
	}
}

func TestLogSinceTime(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for since, want := range map[string]int64{"2026-01-02T03:04:00.5Z": 5, "2026-01-02T04:00:00Z": 1} {
		o, err := logOptions(map[string][]string{"sinceTime": {since}}, now)
		if err != nil || o.SinceSeconds == nil || *o.SinceSeconds != want {
			t.Errorf("since %s: %+v, %v", since, o, err)
		}
	}
}

func TestVersion(t *testing.T) {
	s := newServer(t)
	var info apiversion.Info
	s.do(t, "GET", "/version", "", 200, &info)
	if !strings.HasPrefix(info.GitVersion, "v1.") || !strings.Contains(info.GitVersion, "+berth") {
		t.Errorf("%+v", info)
	}
}

func TestMetrics(t *testing.T) {
	s := newServer(t)
	s.call(t, "GET", podPath+"/absent", "")
	_, body := s.call(t, "GET", "/metrics", "")
	for _, want := range []string{
		`berth_rpc_requests_total{code="NotFound",method="berth.api.v1.Pods/Get"} 1`,
		`berth_http_requests_total{code="404",resource="pods",verb="GET"} 1`,
		`berth_http_request_duration_seconds_count{resource="pods",verb="GET"} 1`,
		`berth_rpc_request_duration_seconds_count{method="berth.api.v1.Pods/Get"} 1`,
	} {
		if !bytes.Contains(body, []byte(want)) {
			t.Errorf("no %s in\n%s", want, body)
		}
	}
}

func TestHealth(t *testing.T) {
	fails := errors.New("the disk is full")
	var storeErr error
	h, err := New(rpc.New(nil, nil, rpc.Options{}), Options{
		Ready: []Check{{"store", func(context.Context) error { return storeErr }}},
		Live:  []Check{{"loop", func(context.Context) error { return nil }}},
	})
	if err != nil {
		t.Fatal(err)
	}
	get := func(path string) string {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
		b, _ := json.Marshal(map[string]any{"code": w.Code, "body": w.Body.String()})
		return string(b)
	}
	for path, want := range map[string]string{
		"/readyz":         `{"body":"ok","code":200}`,
		"/livez":          `{"body":"ok","code":200}`,
		"/healthz":        `{"body":"ok","code":200}`,
		"/readyz?verbose": `{"body":"[+]ping ok\n[+]store ok\nreadyz check passed\n","code":200}`,
	} {
		if got := get(path); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
	storeErr = fails
	for path, want := range map[string]string{
		"/readyz": `{"body":"[+]ping ok\n[-]store failed: the disk is full\nreadyz check failed\n","code":503}`,
		"/livez":  `{"body":"ok","code":200}`,
	} {
		if got := get(path); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}

// TestPanicIsAnswered: the handler of Pods panics over a nil registry; the
// client gets a Status and the server lives.
func TestPanicIsAnswered(t *testing.T) {
	h, err := New(rpc.New(nil, nil, rpc.Options{}), Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{podPath, podPath + "?watch=true", podPath + "/a/log"} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
		var status metav1.Status
		if err := json.Unmarshal(w.Body.Bytes(), &status); err != nil || w.Code != 500 || status.Reason != metav1.StatusReasonInternalError {
			t.Errorf("%s: %d %s, %v", path, w.Code, w.Body, err)
		}
	}
}
