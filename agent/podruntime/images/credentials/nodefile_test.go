// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package credentials

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestNodeFileIsReadAnewAndWatched(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.json")
	f := NewNodeFile(path)
	ctx, cancel := context.WithCancel(t.Context())
	changes, ended := make(chan struct{}, 100), make(chan error, 1)
	go func() { ended <- f.Watch(ctx, slog.New(slog.DiscardHandler), func() { changes <- struct{}{} }) }()
	for i, json := range []string{`{"auths":{"registry.test":{"username":"one"}}}`, `{"auths":{"registry.test":{"username":"two"}}}`, ""} {
		write(t, path, json, changes)
		all, err := Lookup(Image{"registry.test", "a"}, nil, f)
		if want := []string{"one:", "two:", ""}[i]; err != nil || users(all) != want {
			t.Errorf("after change %d: %q, %v", i, users(all), err)
		}
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// write replaces the file, or removes it, until a change is noticed: the first may
// come before the watch.
func write(t *testing.T, path, content string, changes <-chan struct{}) {
	t.Helper()
	deadline := time.After(20 * time.Second)
	for try := ""; ; try += " " {
		if content == "" {
			os.Remove(path)
		} else if err := os.WriteFile(path+".new", []byte(content+try), 0o600); err != nil {
			t.Fatal(err)
		} else if err := os.Rename(path+".new", path); err != nil {
			t.Fatal(err)
		}
		select {
		case <-changes:
			return
		case <-time.After(time.Second):
		case <-deadline:
			t.Fatal("no change was noticed")
		}
	}
}

func TestNodeFileWhoseDirectoryIsMissing(t *testing.T) {
	f := NewNodeFile(filepath.Join(t.TempDir(), "missing", "config.json"))
	if all, err := Lookup(Image{"registry.test", "a"}, nil, f); err != nil || len(all) > 0 {
		t.Errorf("%v, %v", all, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := f.Watch(ctx, slog.New(slog.DiscardHandler), func() {}); err != nil {
		t.Error(err)
	}
}
