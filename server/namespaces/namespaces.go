// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package namespaces sees namespaces through their lives: each one that lives has
// a ServiceAccount default; of one that is being deleted all content goes, pods
// first and events last, before its record does.
//
//	registry ──feeds──► names ──► queue ──► workers ──► registry
//
// What is done follows from live reads, so a server that was killed anywhere goes
// on after its start.
package namespaces

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-run/berth/api"
	"github.com/berth-run/berth/internal/reconcile"
	"github.com/berth-run/berth/server/registry"
)

// Registry is what the controller needs of the registry.
type Registry interface {
	registry.Watcher
	Get(ctx context.Context, k *api.Kind, namespace, name string) (api.Object, error)
	List(ctx context.Context, k *api.Kind, namespace string, o registry.ListOptions) (registry.List, error)
	Create(ctx context.Context, k *api.Kind, obj api.Object, o registry.WriteOptions) (api.Object, []string, error)
	Delete(ctx context.Context, k *api.Kind, namespace, name string, o metav1.DeleteOptions) (api.Object, error)
	Revise(ctx context.Context, k *api.Kind, namespace, name string, uid types.UID, edit func(api.Object)) error
	FinalizeNamespace(ctx context.Context, name string, uid types.UID) error
}

// workers bounds the namespaces that are looked at at once.
const workers = 4

// Controller sees to namespaces while it runs.
type Controller struct {
	registry Registry
	log      *slog.Logger
	now      func() time.Time
}

// New returns a controller over a registry.
func New(reg Registry, log *slog.Logger) *Controller {
	return &Controller{registry: reg, log: log.With("part", "namespaces"), now: time.Now}
}

// Run sees to namespaces until ctx ends.
func (c *Controller) Run(ctx context.Context) error {
	queue := reconcile.NewQueue[string]()
	feeds := c.feeds(queue)
	var running sync.WaitGroup
	defer running.Wait()
	running.Go(func() { _ = feeds.Run(ctx) })
	reconcile.Run(ctx, queue, workers, c.log, c.look)
	return nil
}

// look does what there is to do about a namespace.
func (c *Controller) look(ctx context.Context, name string) error {
	obj, err := c.registry.Get(ctx, api.Namespaces, "", name)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	switch ns := obj.(*corev1.Namespace); {
	case ns.DeletionTimestamp == nil:
		return c.ensureAccount(ctx, name)
	case slices.Contains(ns.Spec.Finalizers, corev1.FinalizerKubernetes):
		return c.drain(ctx, ns)
	}
	return nil // empty, and held by finalizers of others
}

// defaultAccount is the ServiceAccount of pods that name none.
const defaultAccount = "default"

// ensureAccount creates the ServiceAccount that a namespace that lives has.
func (c *Controller) ensureAccount(ctx context.Context, namespace string) error {
	_, err := c.registry.Get(ctx, api.ServiceAccounts, namespace, defaultAccount)
	if !apierrors.IsNotFound(err) {
		return err
	}
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: defaultAccount}}
	_, _, err = c.registry.Create(ctx, api.ServiceAccounts, account, registry.WriteOptions{})
	if apierrors.IsAlreadyExists(err) || apierrors.IsNotFound(err) || apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
		return nil // another one did, or the namespace ends meanwhile
	}
	return err
}
