// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package registry keeps the objects of every kind in the store, by Kubernetes'
// rules: defaults, then validation, then a compare-and-swap write; users write
// specs, agents write status.
//
// An object is stored under <resource>/<namespace>/<name>, or <resource>/<name>
// where the kind has no namespaces, as its Kubernetes protobuf encoding without
// resourceVersion: that is the revision of the store's entry.
//
// Every error is a Kubernetes Status error (*apierrors.StatusError) or the
// context's error. Objects that the registry returns are shared: a receiver
// reads them, and copies before it changes anything.
package registry

import (
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-run/berth/api"
	"github.com/berth-run/berth/store"
)

// MaxObjectBytes bounds an object's encoding: what is larger is refused with
// reason RequestEntityTooLarge.
const MaxObjectBytes = 3 << 19 // 1.5 MiB

// NodeLookup tells whether a node is known: a pod that names an unknown one is
// stored with a warning, and removed without waiting for an agent.
type NodeLookup interface {
	Registered(name string) bool
}

// Options are what a Registry may be given. All have defaults.
type Options struct {
	Logger *slog.Logger
	// Now is the clock of timestamps; time.Now by default.
	Now func() time.Time
	// Nodes by default takes a node as registered if its object exists.
	Nodes NodeLookup
}

// Registry serves every kind of api.Kinds over one store. Its methods are safe
// for concurrent use.
type Registry struct {
	store  store.Store
	log    *slog.Logger
	now    func() time.Time
	nodes  NodeLookup
	memo   *memo
	fields fieldOwners
	spaces sync.RWMutex // read-held while an object is created in a namespace
}

// New returns a registry over s.
func New(s store.Store, opts Options) *Registry {
	r := &Registry{store: s, log: opts.Logger, now: opts.Now, nodes: opts.Nodes, memo: newMemo(memoBytes)}
	if r.log == nil {
		r.log = slog.New(slog.DiscardHandler)
	}
	if r.now == nil {
		r.now = time.Now
	}
	if r.nodes == nil {
		r.nodes = storedNodes{s}
	}
	return r
}

// EnsureDefaults creates what exists from the first start: the namespace
// default and the system's PriorityClasses.
func (r *Registry) EnsureDefaults(ctx context.Context) error {
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: metav1.NamespaceDefault}}
	if _, _, err := r.Create(ctx, api.Namespaces, ns, WriteOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("create namespace %s: %w", ns.Name, err)
	}
	return r.ensurePriorityClasses(ctx)
}

// Get returns one object.
func (r *Registry) Get(ctx context.Context, k *api.Kind, namespace, name string) (api.Object, error) {
	entry, err := r.store.Get(ctx, keyOf(k, namespace, name))
	if err != nil {
		return nil, storeError(k, name, err)
	}
	return r.decode(k, entry)
}

// GetEncoded returns one object in its Kubernetes protobuf encoding, without a
// parse.
func (r *Registry) GetEncoded(ctx context.Context, k *api.Kind, namespace, name string) ([]byte, error) {
	entry, err := r.store.Get(ctx, keyOf(k, namespace, name))
	if err != nil {
		return nil, storeError(k, name, err)
	}
	return api.WithResourceVersion(entry.Value, formatRevision(entry.Revision)), nil
}

// decode returns the object of an entry, shared with everyone who asks for the
// same revision.
func (r *Registry) decode(k *api.Kind, e store.Entry) (api.Object, error) {
	obj, err := r.memo.object(k, e)
	if err != nil {
		return nil, apierrors.NewInternalError(fmt.Errorf("stored object %s at revision %d: %w", e.Key, e.Revision, err))
	}
	return obj, nil
}

// encode returns what is stored of an object.
func encode(k *api.Kind, obj api.Object) ([]byte, error) {
	bare := api.ShallowCopy(obj)
	bare.SetResourceVersion("")
	value, err := bare.Marshal()
	if err != nil {
		return nil, apierrors.NewInternalError(fmt.Errorf("encode %s %s: %w", k.Name, api.FullName(obj), err))
	}
	if len(value) > MaxObjectBytes {
		return nil, tooLarge(k, obj.GetName(), len(value))
	}
	return value, nil
}

func keyOf(k *api.Kind, namespace, name string) string { return prefixOf(k, namespace) + name }

// prefixOf returns the prefix of the keys of a kind's objects, in one namespace
// or, if it is empty, in all.
func prefixOf(k *api.Kind, namespace string) string {
	if !k.Namespaced || namespace == "" {
		return k.Resource + "/"
	}
	return k.Resource + "/" + namespace + "/"
}

func formatRevision(revision int64) string { return strconv.FormatInt(revision, 10) }

// storedNodes takes a node as registered if its object is stored.
type storedNodes struct{ store store.Store }

func (n storedNodes) Registered(name string) bool {
	_, err := n.store.Get(context.Background(), keyOf(api.Nodes, "", name))
	return err == nil
}
