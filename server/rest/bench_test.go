// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package rest

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-run/berth/api"
	"github.com/berth-run/berth/server/registry"
	"github.com/berth-run/berth/server/rpc"
)

// memory is a registry that stores nothing, so that what is measured is the way
// through REST.
type memory struct{ rpc.Registry }

func (memory) Create(_ context.Context, _ *api.Kind, obj api.Object, _ registry.WriteOptions) (api.Object, []string, error) {
	return obj, nil, nil
}

// BenchmarkCreateThroughREST counts what a create costs outside the registry: the
// body decoded once, the answer encoded once.
func BenchmarkCreateThroughREST(b *testing.B) {
	h, err := New(rpc.New(memory{}, nil, rpc.Options{}), Options{})
	if err != nil {
		b.Fatal(err)
	}
	body := podJSON("web")
	b.ReportAllocs()
	for b.Loop() {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("POST", podPath, strings.NewReader(body)))
		if w.Code != http.StatusCreated {
			b.Fatal(w.Body)
		}
	}
}

// BenchmarkCreates has 16 clients create pods in a store on disk; its creates/s
// are those of the whole server.
func BenchmarkCreates(b *testing.B) {
	s := newServer(b)
	s.Client().Transport.(*http.Transport).MaxIdleConnsPerHost = 16
	var names atomic.Int64
	b.SetParallelism(8) // × 2 processors
	b.RunParallel(func(p *testing.PB) {
		for p.Next() {
			body := podJSON(fmt.Sprintf("p%d", names.Add(1)))
			resp, err := s.Client().Post(s.URL+podPath, "application/json", strings.NewReader(body))
			if err != nil {
				b.Error(err)
				return
			}
			_, _ = io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
			if resp.StatusCode != http.StatusCreated {
				b.Errorf("status %d", resp.StatusCode)
				return
			}
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "creates/s")
}

// BenchmarkList is one list of 1,000 pods.
func BenchmarkList(b *testing.B) {
	pods := make([]api.Object, 1000)
	for i := range pods {
		pods[i] = &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("p", i)}}
	}
	h, err := New(rpc.New(stored{items: pods}, nil, rpc.Options{}), Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("GET", podPath, nil))
		if w.Code != http.StatusOK {
			b.Fatal(w.Body)
		}
	}
}

// stored is a registry that lists these items.
type stored struct {
	rpc.Registry
	items []api.Object
}

func (s stored) List(context.Context, *api.Kind, string, registry.ListOptions) (registry.List, error) {
	return registry.List{Items: s.items}, nil
}
