// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package informers

import (
	"context"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	k8sinformers "k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/berth-run/berth/api"
	"github.com/berth-run/berth/test/internal/harness"
)

// informerSet are the informers of one client, for every kind.
type informerSet struct {
	contentType string
	stores      map[*api.Kind]cache.Store
	// streamed counts the watches that brought all objects by themselves.
	streamed *atomic.Int64
}

func clientConfig(c *harness.Cluster, contentType string) *rest.Config {
	config := &rest.Config{Host: c.URL(), QPS: -1} // without a limit
	config.ContentType, config.AcceptContentTypes = contentType, contentType
	config.WarningHandler = rest.NoWarnings{}
	return config
}

// startInformers returns once all informers have all that there is.
func startInformers(t *testing.T, ctx context.Context, c *harness.Cluster, contentType string) *informerSet {
	t.Helper()
	set := &informerSet{contentType: contentType, stores: map[*api.Kind]cache.Store{}, streamed: &atomic.Int64{}}
	config := clientConfig(c, contentType)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return countStreams{next, set.streamed} })
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	factory := k8sinformers.NewSharedInformerFactory(client, 0)
	for _, k := range api.Kinds {
		informer, err := factory.ForResource(resourceOf(k))
		if err != nil {
			t.Fatal(err)
		}
		set.stores[k] = informer.Informer().GetStore()
	}
	ctx, cancel := context.WithCancel(ctx)
	t.Cleanup(func() { // before the server goes
		cancel()
		factory.Shutdown()
	})
	factory.StartWithContext(ctx)
	if err := factory.WaitForCacheSyncWithContext(ctx).AsError(); err != nil {
		t.Fatal(err)
	}
	return set
}

// countStreams counts the watches that are to begin with all objects, and do.
type countStreams struct {
	next  http.RoundTripper
	count *atomic.Int64
}

func (s countStreams) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := s.next.RoundTrip(r)
	if err == nil && response.StatusCode == http.StatusOK && r.URL.Query().Get("sendInitialEvents") == "true" {
		s.count.Add(1)
	}
	return response, err
}

func resourceOf(k *api.Kind) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: k.Group, Version: k.Version, Resource: k.Resource}
}

// awaitEqual waits until each informer holds what a list shows.
func (s *informerSet) awaitEqual(t *testing.T, ctx context.Context, c *harness.Cluster) {
	t.Helper()
	for _, k := range api.Kinds {
		var diff string
		err := harness.Poll(ctx, fmt.Sprintf("the %s informer of %s equals the store", s.contentType, k.Resource), func() (bool, error) {
			want, err := listAll(ctx, c, k)
			if err != nil {
				return false, err
			}
			diff = difference(want, s.stores[k].List())
			return diff == "", nil
		})
		if err != nil {
			t.Errorf("%v\n%s", err, diff)
		}
	}
}

// listAll returns the objects of a kind by namespace and name.
func listAll(ctx context.Context, c *harness.Cluster, k *api.Kind) (map[string]api.Object, error) {
	list := k.NewList()
	if _, err := c.Do(ctx, "GET", k.Path()+"/"+k.Resource, nil, list); err != nil {
		return nil, err
	}
	items, err := meta.ExtractList(list)
	if err != nil {
		return nil, err
	}
	objects := make([]any, len(items))
	for i := range items {
		objects[i] = items[i]
	}
	return byName(objects), nil
}

func byName(objects []any) map[string]api.Object {
	out := map[string]api.Object{}
	for _, o := range objects {
		object := o.(runtime.Object).DeepCopyObject().(api.Object)
		object.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{}) // clients differ in whether they set it
		out[api.FullName(object)] = object
	}
	return out
}

// difference tells how what an informer holds is not what it should hold.
func difference(want map[string]api.Object, held []any) string {
	have := byName(held)
	if equality.Semantic.DeepEqual(want, have) {
		return ""
	}
	if len(want) != len(have) {
		return fmt.Sprintf("it has %d, and the store %d", len(have), len(want))
	}
	for name := range want {
		if !equality.Semantic.DeepEqual(want[name], have[name]) {
			return cmp.Diff(want[name], have[name])
		}
	}
	return "they differ"
}
