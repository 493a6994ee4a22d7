// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package tunnel

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-run/berth/agent/podtypes"
)

// fakeRuntime has one container, c.
type fakeRuntime struct {
	mu      sync.Mutex
	pod     *podtypes.RuntimePod
	at      time.Time
	changed chan struct{}
	// asked is how often it was asked.
	asked int
}

func withContainer(attempt uint32, state podtypes.ContainerState) *fakeRuntime {
	f := &fakeRuntime{changed: make(chan struct{})}
	f.set(attempt, state)
	return f
}

func (f *fakeRuntime) Pod(types.UID) (*podtypes.RuntimePod, time.Time, <-chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked++
	return f.pod, f.at, f.changed
}

func (f *fakeRuntime) timesAsked() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.asked
}

func (f *fakeRuntime) set(attempt uint32, state podtypes.ContainerState) {
	f.know(&podtypes.RuntimePod{Containers: []podtypes.Container{{Name: "c", Attempt: attempt, State: state}}})
}

// know replaces what is known of the pod, as of now.
func (f *fakeRuntime) know(pod *podtypes.RuntimePod) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.pod, f.at = pod, time.Now()
	close(f.changed)
	f.changed = make(chan struct{})
}

// logDir has the logs of container c of the pod default/p with UID u.
func logDir(t *testing.T, files map[string]string) (root string) {
	t.Helper()
	root = t.TempDir()
	dir := filepath.Join(root, "default_p_u", "c")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

const podPath = "/v1/pods/default/p/u/log/c"

func get(root string, runtime Runtime, path string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	handler := NewHandler(NewLogs(root, runtime, slog.New(slog.DiscardHandler)))
	handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
	return w
}

const sample = `2024-01-01T00:00:01.000000001Z stdout F one
2024-01-01T00:00:02.5Z stderr F two
2024-01-01T00:00:03Z stdout P thr
2024-01-01T00:00:04Z stdout P e
2024-01-01T00:00:05Z stdout F e!
2024-01-01T00:00:06Z stdout F 
2024-01-01T00:00:07Z stdout F last words
`

func TestLogForms(t *testing.T) {
	root := logDir(t, map[string]string{"0.log": sample})
	for _, test := range []struct{ query, want string }{
		{"", "one\ntwo\nthree!\n\nlast words\n"},
		{"tailLines=0", ""},
		{"tailLines=1", "last words\n"},
		{"tailLines=2", "\nlast words\n"},
		{"tailLines=3", "three!\n\nlast words\n"},
		{"tailLines=4", "two\nthree!\n\nlast words\n"},
		{"tailLines=100", "one\ntwo\nthree!\n\nlast words\n"},
		{"sinceTime=2024-01-01T00:00:03Z", "three!\n\nlast words\n"},
		// A line is as old as its first part.
		{"sinceTime=2024-01-01T00:00:04Z", "\nlast words\n"},
		{"sinceSeconds=60", ""},
		{"limitBytes=5", "one\nt"},
		{"limitBytes=0", ""},
		{"limitBytes=1000", "one\ntwo\nthree!\n\nlast words\n"},
		{"timestamps=true&tailLines=3", "2024-01-01T00:00:03Z three!\n2024-01-01T00:00:06Z \n2024-01-01T00:00:07Z last words\n"},
	} {
		w := get(root, nil, podPath+"?"+test.query)
		if w.Code != http.StatusOK || w.Body.String() != test.want {
			t.Errorf("%s: %d %q, want %q", test.query, w.Code, w.Body, test.want)
		}
	}
}

func TestLogChoosesTheAttempt(t *testing.T) {
	line := func(text string) string { return "2024-01-01T00:00:01Z stdout F " + text + "\n" }
	root := logDir(t, map[string]string{
		"2.log": line("two"), "10.log": line("ten"), "9.log": line("nine"), "10.log.tmp": "x", "readme": "x",
	})
	for query, want := range map[string]string{"": "ten\n", "?attempt=9": "nine\n", "?attempt=10": "ten\n"} {
		if w := get(root, nil, podPath+query); w.Body.String() != want {
			t.Errorf("%q: %q, want %q", query, w.Body, want)
		}
	}
}

func TestLogRefusals(t *testing.T) {
	root := logDir(t, map[string]string{"0.log": sample})
	outside := filepath.Join(root, "secret")
	if err := os.MkdirAll(outside, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(outside, "0.log"), []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	for path, code := range map[string]int{
		podPath + "?attempt=1":                      http.StatusNotFound,
		"/v1/pods/default/p/other/log/c":            http.StatusNotFound,
		"/v1/pods/default/p/u/log/other":            http.StatusNotFound,
		podPath + "?tailLines=-1":                   http.StatusBadRequest,
		podPath + "?tailLines=many":                 http.StatusBadRequest,
		podPath + "?follow=perhaps":                 http.StatusBadRequest,
		podPath + "?sinceTime=yesterday":            http.StatusBadRequest,
		"/v1/pods/default/p/u/log/..%2f..%2fsecret": http.StatusInternalServerError,
		"/v1/pods/default/p/u/exec/c":               http.StatusNotFound,
	} {
		if w := get(root, nil, path); w.Code != code {
			t.Errorf("%s: %d %s, want %d", path, w.Code, w.Body, code)
		}
	}
}

func TestDamagedLinesAreShown(t *testing.T) {
	root := logDir(t, map[string]string{"0.log": "half a li\n2024-01-01T00:00:01Z stdout F whole\n2024-01-01T00:00:02Z stdout F cut off"})
	if w := get(root, nil, podPath); w.Body.String() != "half a li\nwhole\ncut off\n" {
		t.Errorf("%q", w.Body)
	}
}

// Whatever the blocks in which the file is read back, the tail is the same as
// that of the text.
func TestTailOfLongLogs(t *testing.T) {
	var log strings.Builder
	var lines []string
	for i := range 3000 {
		text := fmt.Sprintf("line %d %s", i, strings.Repeat("x", i*7%1500))
		lines = append(lines, text+"\n")
		for cut := 400; len(text) > cut; text = text[cut:] {
			fmt.Fprintf(&log, "2024-01-01T00:00:01Z stdout P %s\n", text[:cut])
		}
		if len(lines[i])-1 != 0 {
			fmt.Fprintf(&log, "2024-01-01T00:00:01Z stdout F %s\n", tailOf(lines[i], 400))
		}
	}
	root := logDir(t, map[string]string{"0.log": log.String()})
	for _, n := range []int{1, 2, 17, 999, 2999, 3000} {
		want := strings.Join(lines[len(lines)-n:], "")
		if w := get(root, nil, fmt.Sprintf("%s?tailLines=%d", podPath, n)); w.Body.String() != want {
			t.Errorf("tail of %d: %d bytes, want %d", n, w.Body.Len(), len(want))
		}
	}
}

// tailOf returns what is left of a line after its parts of size n.
func tailOf(line string, n int) string {
	text := strings.TrimSuffix(line, "\n")
	for len(text) > n {
		text = text[n:]
	}
	return text
}
