// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package tunnel

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/berth-run/berth/agent/podtypes"
)

// noticeTimeout is for a busy machine; it is far below what makes up for lost notices.
const noticeTimeout = 15 * time.Second

func await(t *testing.T, what string, c <-chan struct{}) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(noticeTimeout):
		t.Fatalf("no %s after %s", what, noticeTimeout)
	}
}

// awaitText waits until so much was written.
func (f *following) awaitText(t *testing.T, want string) {
	t.Helper()
	for f.String() != want {
		await(t, want, f.written)
	}
}

func TestFollowersOnRealFiles(t *testing.T) {
	defer goleak.VerifyNone(t)
	root := logDir(t, map[string]string{"0.log": one})
	runtime := withContainer(0, podtypes.ContainerRunning)
	logs := NewLogs(root, runtime, slog.New(slog.DiscardHandler))
	var followers []*following
	for range 3 {
		f := &following{newResponse(), root, runtime, nil, make(chan struct{})}
		f.serve(t.Context(), logs)
		f.awaitText(t, "one\n")
		followers = append(followers, f)
	}
	first := followers[0]
	first.add(t, "two")
	for _, f := range followers {
		f.awaitText(t, "one\ntwo\n")
	}
	if err := os.Rename(first.log("0.log"), first.log("0.log.20240101")); err != nil {
		t.Fatal(err)
	}
	first.add(t, "three")
	for _, f := range followers {
		f.awaitText(t, "one\ntwo\nthree\n")
	}
	runtime.set(0, podtypes.ContainerExited)
	for _, f := range followers {
		await(t, "end", f.ended)
	}
}

func TestWatchesShareOneInstance(t *testing.T) {
	defer goleak.VerifyNone(t)
	n := &inotify{}
	a, b := t.TempDir(), t.TempDir()
	stops := map[string]func(){}
	notices := map[string]<-chan struct{}{}
	for _, w := range []struct{ name, dir string }{{"a1", a}, {"a2", a}, {"b", b}} {
		var err error
		if notices[w.name], stops[w.name], err = n.watch(w.dir); err != nil {
			t.Fatal(err)
		}
	}
	instance := n.watcher
	stops["a1"]()
	stops["a1"]() // more than once is once
	touch(t, a)
	await(t, "notice of a", notices["a2"])
	touch(t, b)
	await(t, "notice of b", notices["b"])
	if len(notices["a1"]) > 0 {
		t.Error("a watch that was stopped is told")
	}
	if n.watcher != instance {
		t.Error("another instance")
	}
	stops["a2"]()
	stops["b"]()
	if n.watcher != nil {
		t.Error("an idle watcher is kept")
	}
}

func TestWatchOfADirectoryThatIsNotThere(t *testing.T) {
	defer goleak.VerifyNone(t)
	n := &inotify{}
	if _, _, err := n.watch(filepath.Join(t.TempDir(), "absent")); err == nil {
		t.Error("no error")
	}
	if n.watcher != nil {
		t.Error("an idle watcher is kept")
	}
}

// A directory that was removed and made again is watched again.
func TestWatchOfADirectoryThatCameAgain(t *testing.T) {
	n := &inotify{}
	dir := filepath.Join(t.TempDir(), "d")
	for range 2 {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		notices, stop, err := n.watch(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer stop()
		touch(t, dir)
		await(t, "notice", notices)
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
	}
}

func touch(t *testing.T, dir string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, "file"), []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
}
