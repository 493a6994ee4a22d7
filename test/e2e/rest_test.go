// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/berth-run/berth/test/internal/harness"
)

// With HTTP alone: the example pod is posted, watched, fetched from, and deleted.
func TestRESTRunsTheExamplePod(t *testing.T) {
	w := shared(t)
	manifest, err := os.ReadFile(filepath.Join(suite.Root, "examples", "nginx.json"))
	if err != nil {
		t.Fatal(err)
	}
	var named struct{ Metadata struct{ Name string } }
	if err := json.Unmarshal(manifest, &named); err != nil {
		t.Fatal(err)
	}
	name := named.Metadata.Name

	ctx, cancel := context.WithCancel(w.ctx())
	defer cancel()
	var seen []string
	watched := make(chan error, 1)
	go func() {
		watched <- w.WatchPods(ctx, harness.PodPath(w.ns, "")+"?watch=true", func(e harness.WatchEvent) bool {
			what := e.Type
			if isReady(&e.Object) && e.Object.DeletionTimestamp == nil {
				what += " ready"
			}
			seen = append(seen, what)
			return e.Type != "DELETED"
		})
	}()

	w.post(harness.PodPath(w.ns, ""), manifest, nil)
	running := w.ready(name)
	if running.Status.Phase != "Running" || running.Status.HostIP == "" {
		t.Errorf("status: %+v", running.Status)
	}
	if page := w.page(running, "/"); !strings.Contains(page, "hello from "+name) {
		t.Errorf("the page is %q", page)
	}
	w.delete(name, -1)
	w.gone(name, testTimeout)
	if err := <-watched; err != nil {
		t.Fatal("watch:", err)
	}
	if s := strings.Join(seen, ", "); !strings.HasPrefix(s, "ADDED") || !strings.Contains(s, "MODIFIED ready") || !strings.HasSuffix(s, "DELETED") {
		t.Errorf("the watch saw %s", s)
	}
}
