// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package tunnel

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/berth-run/berth/agent/podtypes"
)

// response is one that another goroutine looks at.
type response struct {
	mu      sync.Mutex
	b       bytes.Buffer
	written chan struct{} // has a token when there is more
}

func newResponse() *response { return &response{written: make(chan struct{}, 1)} }

func (r *response) Header() http.Header { return http.Header{} }
func (r *response) WriteHeader(int)     {}
func (r *response) Write(p []byte) (int, error) {
	defer func() {
		select {
		case r.written <- struct{}{}:
		default:
		}
	}()
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.b.Write(p)
}

func (r *response) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.b.String()
}

// notices is a dirWatcher whose notices the test gives. There is nothing of inotify's
// in a bubble.
type notices struct {
	mu      sync.Mutex
	watches map[chan struct{}]bool
	err     error
}

func (n *notices) watch(string) (<-chan struct{}, func(), error) {
	if n.err != nil {
		return nil, nil, n.err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	c := make(chan struct{}, 1)
	if n.watches == nil {
		n.watches = map[chan struct{}]bool{}
	}
	n.watches[c] = true
	return c, func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		delete(n.watches, c)
	}, nil
}

func (n *notices) tell() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for c := range n.watches {
		select {
		case c <- struct{}{}:
		default:
		}
	}
}

// following is a request that follows a log.
type following struct {
	*response
	root    string
	runtime *fakeRuntime
	notices *notices
	// ended is closed when it has.
	ended chan struct{}
}

func follow(ctx context.Context, root string, runtime *fakeRuntime, watcher *notices) *following {
	f := &following{newResponse(), root, runtime, watcher, make(chan struct{})}
	logs := NewLogs(root, runtime, slog.New(slog.DiscardHandler))
	logs.watcher = watcher
	f.serve(ctx, logs)
	return f
}

func (f *following) serve(ctx context.Context, logs *Logs) {
	request := httptest.NewRequestWithContext(ctx, http.MethodGet, podPath+"?follow=true", nil)
	go func() {
		defer close(f.ended)
		NewHandler(logs).ServeHTTP(f, request)
	}()
}

func (f *following) log(name string) string {
	return filepath.Join(f.root, "default_p_u", "c", name)
}

// add adds a line to the log.
func (f *following) add(t *testing.T, text string) {
	t.Helper()
	f.write(t, "2024-01-01T00:00:02Z stdout F "+text+"\n")
}

func (f *following) write(t *testing.T, text string) {
	t.Helper()
	file, err := os.OpenFile(f.log("0.log"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, err := file.WriteString(text); err != nil {
		t.Fatal(err)
	}
	if f.notices != nil {
		f.notices.tell()
	}
}

// has checks what was written, in a bubble, when all is at rest.
func (f *following) has(t *testing.T, lines ...string) {
	t.Helper()
	synctest.Wait()
	want := strings.Join(lines, "\n") + "\n"
	if got := f.String(); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

const one = "2024-01-01T00:00:01Z stdout F one\n"

func inBubble(t *testing.T, watcher *notices, f func(t *testing.T, f *following)) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		f(t, follow(ctx, logDir(t, map[string]string{"0.log": one}), withContainer(0, podtypes.ContainerRunning), watcher))
	})
}

func TestFollowUntilTheContainerEnds(t *testing.T) {
	inBubble(t, &notices{}, func(t *testing.T, f *following) {
		began := time.Now()
		f.has(t, "one")
		f.add(t, "two")
		f.write(t, "2024-01-01T00:00:03Z std")
		f.has(t, "one", "two")
		f.write(t, "out F three\n")
		f.has(t, "one", "two", "three")
		f.runtime.set(0, podtypes.ContainerUnknown)
		f.add(t, "last")
		f.runtime.set(0, podtypes.ContainerExited)
		<-f.ended
		f.has(t, "one", "two", "three", "last")
		if took := time.Since(began); took > 0 {
			t.Errorf("something waited: %s", took)
		}
		if n := len(f.notices.watches); n > 0 {
			t.Errorf("%d watches left", n)
		}
	})
}

func TestFollowEndsAtOnce(t *testing.T) {
	for name, runtime := range map[string]func() *fakeRuntime{
		"exited":     func() *fakeRuntime { return withContainer(0, podtypes.ContainerExited) },
		"superseded": func() *fakeRuntime { return withContainer(1, podtypes.ContainerRunning) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				f := follow(t.Context(), logDir(t, map[string]string{"0.log": one}), runtime(), &notices{})
				<-f.ended
				f.has(t, "one")
				if took := time.Since(began); took > 0 {
					t.Errorf("took %v", took)
				}
			})
		})
	}
}

// What is known may be older than the container. That it is gone is known only of
// what was looked at since.
func TestFollowWaitsForNewsOfTheContainer(t *testing.T) {
	for name, know := range map[string]func(*fakeRuntime){
		"the attempt before has ended": func(r *fakeRuntime) { r.set(0, podtypes.ContainerExited) },
		"nothing of the pod":           func(r *fakeRuntime) { r.know(nil) },
		"nothing at all":               func(r *fakeRuntime) { r.know(nil); r.at = time.Time{} },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				runtime := withContainer(0, podtypes.ContainerRunning)
				know(runtime)
				f := follow(t.Context(), logDir(t, map[string]string{"1.log": one}), runtime, &notices{})
				time.Sleep(time.Hour)
				select {
				case <-f.ended:
					t.Fatal("it ended")
				default:
				}
				runtime.know(nil)
				<-f.ended
			})
		})
	}
}

func TestFollowEndsWithItsReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		f := follow(ctx, logDir(t, map[string]string{"0.log": sample}), withContainer(0, podtypes.ContainerRunning), &notices{})
		time.Sleep(time.Minute)
		cancel()
		<-f.ended
	})
}

// One that has nothing to tell costs next to nothing: it looks twice a minute, for a
// notice may have been lost.
func TestAnIdleFollowerSleeps(t *testing.T) {
	inBubble(t, &notices{}, func(t *testing.T, f *following) {
		f.has(t, "one")
		before := f.runtime.timesAsked()
		time.Sleep(time.Hour)
		synctest.Wait()
		if looked := f.runtime.timesAsked() - before; looked > 120 {
			t.Errorf("it looked %d times in an hour", looked)
		}
	})
}

func TestALostNoticeIsMadeUpFor(t *testing.T) {
	for name, tc := range map[string]struct {
		watcher *notices
		within  time.Duration
	}{
		"lost":       {&notices{}, fallbackInterval},
		"no watches": {&notices{err: errors.New("too many open files")}, pollInterval},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, tc.watcher, func(t *testing.T, f *following) {
				f.has(t, "one")
				f.notices = nil
				f.add(t, "two")
				time.Sleep(tc.within)
				f.has(t, "one", "two")
			})
		})
	}
}

// A log is rotated by another name for the file and a new one, which may take a
// moment to come.
func TestFollowARotatedLog(t *testing.T) {
	inBubble(t, &notices{}, func(t *testing.T, f *following) {
		f.has(t, "one")
		if err := os.Rename(f.log("0.log"), f.log("0.log.20240101")); err != nil {
			t.Fatal(err)
		}
		f.notices.tell()
		f.has(t, "one")
		old, err := os.OpenFile(f.log("0.log.20240101"), os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer old.Close()
		if _, err := old.WriteString("2024-01-01T00:00:02Z stdout F late\n"); err != nil {
			t.Fatal(err)
		}
		f.add(t, "new")
		f.has(t, "one", "late", "new")
		f.add(t, "newer")
		f.has(t, "one", "late", "new", "newer")
	})
}

func TestFollowALogThatIsCutShort(t *testing.T) {
	inBubble(t, &notices{}, func(t *testing.T, f *following) {
		f.add(t, "two")
		f.has(t, "one", "two")
		if err := os.Truncate(f.log("0.log"), 0); err != nil {
			t.Fatal(err)
		}
		f.add(t, "three")
		f.has(t, "one", "two", "three")
	})
}
