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
	"sync"

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

	mu    sync.Mutex
	doors []*httptest.Server
}

// NewRegistry starts an empty registry.
func NewRegistry() *Registry {
	handler := registry.New(registry.Logger(log.New(io.Discard, "", 0)))
	return &Registry{handler: handler, open: httptest.NewServer(handler)}
}

// Close ends the registry and its doors, with the connections that are open.
func (r *Registry) Close() {
	r.mu.Lock()
	defer r.mu.Unlock()
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

func (r *Registry) door(h http.Handler) string {
	s := httptest.NewServer(h)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.doors = append(r.doors, s)
	return host(s)
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
