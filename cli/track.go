// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/berth-run/berth/api"
	"github.com/berth-run/berth/internal/sleep"
	apipb "github.com/berth-run/berth/proto/berth/api/v1"
)

// errGone is how following an object ends that is no longer there.
var errGone = errors.New("it is gone")

// trackPause is how long a watch rests that has just ended.
const trackPause = 100 * time.Millisecond

// track calls fn with each later state of the object that there was at a version, until
// fn fails, ctx ends, or the object is gone: another one of its name is not it. A watch
// that the server ends, or a server that goes away and comes back, are overcome.
func (c *client) track(ctx context.Context, k *api.Kind, was at, fn func(api.Object) error) error {
	for {
		err := c.watchOne(ctx, k, was, fn)
		if !overcome(err) {
			return err
		}
		if err := sleep.For(ctx, trackPause); err != nil {
			return err
		}
		now, err := c.again(ctx, k, was.obj)
		if err == nil {
			was, err = now, fn(now.obj)
		}
		if !overcome(err) {
			return err
		}
	}
}

// watchOne is one watch of track.
func (c *client) watchOne(ctx context.Context, k *api.Kind, was at, fn func(api.Object) error) error {
	request := &apipb.WatchRequest{
		Namespace: was.obj.GetNamespace(), Name: was.obj.GetName(), ResourceVersion: was.version,
	}
	return c.watch(ctx, k, request, func(t watch.EventType, now api.Object) error {
		if t == watch.Deleted || now.GetUID() != was.obj.GetUID() {
			return errGone
		}
		return fn(now)
	})
}

// again reads obj anew, from a server that may have to come back first.
func (c *client) again(ctx context.Context, k *api.Kind, obj api.Object) (at, error) {
	now, err := c.look(ctx, k, obj.GetNamespace(), obj.GetName(), grpc.WaitForReady(true))
	if err == nil && (now.obj == nil || now.obj.GetUID() != obj.GetUID()) {
		err = errGone
	}
	return now, err
}

// errFound ends a watch that has shown what it was for.
var errFound = errors.New("found")

// appear returns the object of that name, as soon as there is one.
func (c *client) appear(ctx context.Context, k *api.Kind, namespace, name string) (at, error) {
	for {
		var found api.Object
		request := &apipb.WatchRequest{Namespace: namespace, Name: name}
		err := c.watch(ctx, k, request, func(t watch.EventType, obj api.Object) error {
			if t == watch.Deleted {
				return nil
			}
			found = obj
			return errFound
		})
		if errors.Is(err, errFound) {
			return at{found, found.GetResourceVersion()}, nil
		}
		if !overcome(err) {
			return at{}, err
		}
		if err := sleep.For(ctx, trackPause); err != nil {
			return at{}, err
		}
	}
}

// overcome tells whether what has ended a watch or a read, if anything has, may be
// over soon.
func overcome(err error) bool {
	if err == nil || errors.As(err, new(*watchEnded)) {
		return true
	}
	switch status.Code(err) {
	case codes.Unavailable, codes.OutOfRange, codes.DeadlineExceeded, codes.ResourceExhausted:
		return true
	}
	return false
}
