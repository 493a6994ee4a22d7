// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package objects holds the Secrets, ConfigMaps and RuntimeClasses that the node's pods name, as
// the server last sent them.
package objects

import (
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/berth-run/berth/api"
)

// Key names an object of the cache.
type Key struct {
	Kind      string
	Namespace string
	Name      string
}

// Cache is safe for concurrent use. What it returns is shared: it is replaced,
// never changed.
type Cache struct {
	changed func(Key)

	mu      sync.RWMutex
	objects map[Key]api.Object
}

// New returns an empty cache. changed, unless nil, is called after each change
// of an object; it must not block.
func New(changed func(Key)) *Cache {
	if changed == nil {
		changed = func(Key) {}
	}
	return &Cache{changed: changed, objects: map[Key]api.Object{}}
}

// Secret returns the secret, or a NotFound Status error.
func (c *Cache) Secret(namespace, name string) (*corev1.Secret, error) {
	o, ok := c.get(Key{api.Secrets.Name, namespace, name}).(*corev1.Secret)
	if !ok {
		return nil, apierrors.NewNotFound(api.Secrets.GroupResource(), name)
	}
	return o, nil
}

// ConfigMap returns the config map, or a NotFound Status error.
func (c *Cache) ConfigMap(namespace, name string) (*corev1.ConfigMap, error) {
	o, ok := c.get(Key{api.ConfigMaps.Name, namespace, name}).(*corev1.ConfigMap)
	if !ok {
		return nil, apierrors.NewNotFound(api.ConfigMaps.GroupResource(), name)
	}
	return o, nil
}

// RuntimeClass returns the runtime class, or a NotFound Status error.
func (c *Cache) RuntimeClass(name string) (*nodev1.RuntimeClass, error) {
	o, ok := c.get(Key{Kind: api.RuntimeClasses.Name, Name: name}).(*nodev1.RuntimeClass)
	if !ok {
		return nil, apierrors.NewNotFound(api.RuntimeClasses.GroupResource(), name)
	}
	return o, nil
}

// All returns every object, in no order.
func (c *Cache) All() []api.Object {
	c.mu.RLock()
	defer c.mu.RUnlock()
	all := make([]api.Object, 0, len(c.objects))
	for _, o := range c.objects {
		all = append(all, o)
	}
	return all
}

// Set stores an object in place of the one of its kind and name.
func (c *Cache) Set(o api.Object) error {
	kind := api.ReferencedKind(o)
	if kind == nil {
		return fmt.Errorf("object %s is a %T, of a kind that no pod names", api.FullName(o), o)
	}
	key := Key{kind.Name, o.GetNamespace(), o.GetName()}
	c.mu.Lock()
	c.objects[key] = o
	c.mu.Unlock()
	c.changed(key)
	return nil
}

// Remove forgets an object; one that is not there is no error.
func (c *Cache) Remove(kind, namespace, name string) {
	key := Key{kind, namespace, name}
	c.mu.Lock()
	_, had := c.objects[key]
	delete(c.objects, key)
	c.mu.Unlock()
	if had {
		c.changed(key)
	}
}

func (c *Cache) get(key Key) api.Object {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.objects[key]
}
