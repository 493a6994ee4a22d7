// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package testimage

import (
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// Registry serves images over plain HTTP on the loopback interface. Its further
// doors serve the same images in worse ways.
type Registry struct {
	handler http.Handler
	open    *httptest.Server
	doors   []*httptest.Server
}

// NewRegistry starts an empty registry.
func NewRegistry() *Registry {
	handler := registry.New(registry.Logger(log.New(io.Discard, "", 0)))
	return &Registry{handler: handler, open: httptest.NewServer(handler)}
}

// Close ends the registry and its doors, with the connections that are open.
func (r *Registry) Close() {
	for _, s := range append(r.doors, r.open) {
		s.CloseClientConnections()
		s.Close()
	}
}

// Host is the registry's host:port.
func (r *Registry) Host() string { return host(r.open) }

func host(s *httptest.Server) string { return strings.TrimPrefix(s.URL, "http://") }

// Push adds an image under a name without host, such as library/nginx:1.14.2.
func (r *Registry) Push(path string, image v1.Image) error {
	ref, err := name.ParseReference(r.Host()+"/"+path, name.Insecure)
	if err != nil {
		return err
	}
	return remote.Write(ref, image)
}

// Image returns an image that was pushed.
func (r *Registry) Image(path string) (v1.Image, error) {
	ref, err := name.ParseReference(r.Host()+"/"+path, name.Insecure)
	if err != nil {
		return nil, err
	}
	return remote.Image(ref)
}

// WithLogin opens a door that asks for a user and password, and returns its host.
func (r *Registry) WithLogin(user, password string) string {
	return r.door(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if u, p, ok := req.BasicAuth(); !ok || u != user || p != password {
			w.Header().Set("WWW-Authenticate", `Basic realm="test"`)
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprint(w, `{"errors":[{"code":"UNAUTHORIZED","message":"a login is needed"}]}`)
			return
		}
		r.handler.ServeHTTP(w, req)
	}))
}

// SlowDoor is a throttled way into a registry.
type SlowDoor struct {
	Host   string
	active atomic.Int32
}

// Active is how many requests it is serving.
func (d *SlowDoor) Active() int { return int(d.active.Load()) }

// Throttled opens a door that sends so many bytes a second to each request.
func (r *Registry) Throttled(bytesPerSecond int) *SlowDoor {
	d := &SlowDoor{}
	d.Host = r.door(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		d.active.Add(1)
		defer d.active.Add(-1)
		r.handler.ServeHTTP(&slowWriter{w, req, bytesPerSecond}, req)
	}))
	return d
}

func (r *Registry) door(h http.Handler) string {
	s := httptest.NewServer(h)
	r.doors = append(r.doors, s)
	return host(s)
}

// slowWriter sends its bytes in slices of a tenth of a second.
type slowWriter struct {
	http.ResponseWriter
	request *http.Request
	rate    int
}

func (w *slowWriter) Write(p []byte) (int, error) {
	ticker := time.NewTicker(time.Second / 10)
	defer ticker.Stop()
	sent := 0
	for sent < len(p) {
		n, err := w.ResponseWriter.Write(p[sent:min(len(p), sent+max(1, w.rate/10))])
		sent += n
		if err != nil {
			return sent, err
		}
		w.ResponseWriter.(http.Flusher).Flush()
		select {
		case <-w.request.Context().Done():
			return sent, w.request.Context().Err()
		case <-ticker.C:
		}
	}
	return sent, nil
}

// Mirror makes a node fetch what belongs to the registry named upstream, such as
// docker.io, from host over plain HTTP. certsDir is containerd's certs.d.
func Mirror(certsDir, upstream, host string) error {
	if _, _, err := net.SplitHostPort(host); err != nil {
		return err
	}
	dir := filepath.Join(certsDir, upstream)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	content := fmt.Sprintf("server = \"http://%s\"\n\n[host.\"http://%s\"]\ncapabilities = [\"pull\", \"resolve\"]\n", host, host)
	return os.WriteFile(filepath.Join(dir, "hosts.toml"), []byte(content), 0o644)
}
