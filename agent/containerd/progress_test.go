// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package containerd

import (
	"context"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/registry"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/berth-run/berth/agent/cri"
)

// halting sends so many bytes, then nothing until its client goes.
type halting struct {
	http.ResponseWriter
	request *http.Request
	left    int
}

func (w *halting) Write(p []byte) (int, error) {
	n, err := w.ResponseWriter.Write(p[:min(len(p), w.left)])
	if w.left -= n; err != nil || n == len(p) {
		return n, err
	}
	w.ResponseWriter.(http.Flusher).Flush()
	<-w.request.Context().Done()
	return n, w.request.Context().Err()
}

// containerd's store of content tells how far a pull is.
func TestPullProgress(t *testing.T) {
	const moved = 1 << 20 // offsets move by this
	n := newTestNode(t)
	stop := n.supervise(n.Runtime)
	t.Cleanup(stop)
	handler := registry.New(registry.Logger(log.New(io.Discard, "", 0)))
	open := httptest.NewServer(handler)
	t.Cleanup(open.Close)
	slow := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		handler.ServeHTTP(&halting{w, r, moved + moved/2}, r)
	}))
	t.Cleanup(slow.Close)
	pushSized(t, strings.TrimPrefix(open.URL, "http://")+"/team/app:1", 2*moved)
	hosts := filepath.Join(n.cfg.Dir, "certs.d", "registry.test")
	if err := errors.Join(os.MkdirAll(hosts, 0o755), os.WriteFile(filepath.Join(hosts, "hosts.toml"), []byte("server = \""+slow.URL+"\"\n"), 0o644)); err != nil {
		t.Fatal(err)
	}

	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	pulled := make(chan error, 1)
	go func() {
		_, err := runtimeapi.NewImageServiceClient(n.conn).PullImage(ctx, &runtimeapi.PullImageRequest{
			Image: &runtimeapi.ImageSpec{Image: "registry.test/team/app:1"},
		})
		pulled <- err
	}()
	t.Cleanup(func() { cancel(); <-pulled })
	watch := cri.NewClient(n.conn).WatchPull("registry.test", "team/app")
	var last cri.PullProgress
	err := poll(ctx, func() (bool, error) {
		select {
		case err := <-pulled:
			pulled <- err
			return false, errors.Join(errors.New("the pull ended"), err)
		default:
		}
		p, err := watch.Progress(ctx)
		if err == nil {
			last = p
		}
		return p.Downloading && p.Total > 4*moved && p.Done >= 2*moved, err
	})
	if err != nil {
		t.Errorf("%v; the last was %+v", err, last)
	}
}
