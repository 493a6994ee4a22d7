// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package rpc

import (
	"context"
	"math"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"

	apipb "github.com/berth-run/berth/proto/berth/api/v1"
	"github.com/berth-run/berth/server/apierror"
	"github.com/berth-run/berth/server/registry"
)

// Watch streams the changes of objects until the client goes, timeoutSeconds
// have passed, or the watch cannot be continued: then the last event has type
// ERROR and says why.
func (s *service[C, U, O, L, E, PE]) Watch(req *apipb.WatchRequest, stream grpc.ServerStreamingServer[E]) error {
	if err := checkWatch(req); err != nil {
		return err
	}
	ctx, cancel := WatchContext(stream.Context(), req.GetTimeoutSeconds())
	defer cancel()
	w, err := s.reg.Watch(ctx, s.kind, req.GetNamespace(), registry.WatchOptions{
		LabelSelector:     req.GetLabelSelector(),
		FieldSelector:     req.GetFieldSelector(),
		ResourceVersion:   req.GetResourceVersion(),
		SendInitialEvents: req.SendInitialEvents,
		Bookmarks:         req.GetAllowWatchBookmarks(),
		Name:              req.GetName(),
	})
	if isExpired(err) {
		return s.sendError(stream, err)
	}
	if err != nil {
		return err
	}
	defer w.Close()

	// The client learns at once that the watch runs, not with its first event.
	if err := stream.SendHeader(nil); err != nil {
		return err
	}
	err = s.forward(ctx, w, req.GetAsManifest(), stream)
	switch {
	case stream.Context().Err() != nil:
		return stream.Context().Err()
	case ctx.Err() != nil:
		return nil // timeoutSeconds have passed
	}
	return s.sendError(stream, err)
}

// forward sends what w says until it fails.
func (s *service[C, U, O, L, E, PE]) forward(ctx context.Context, w registry.Watch, asManifest bool, stream grpc.ServerStreamingServer[E]) error {
	for {
		events, err := w.Next(ctx)
		if err != nil {
			return err
		}
		for _, e := range events {
			out := PE(new(E))
			set(out, typeField, protoreflect.ValueOfString(string(e.Type)))
			if err := s.setEventObject(ctx, out, e, asManifest); err != nil {
				return err
			}
			if err := stream.Send((*E)(out)); err != nil {
				return err
			}
		}
	}
}

func (s *service[C, U, O, L, E, PE]) setEventObject(ctx context.Context, out proto.Message, e registry.WatchEvent, asManifest bool) error {
	if asManifest || e.Type == watch.Bookmark || handoverOf(ctx) != nil {
		return giveObject(ctx, out, s.kind, e.Object, asManifest)
	}
	setRaw(out, objectField(s.kind), e.Encoded())
	return nil
}

// sendError ends a watch in the way of Kubernetes: with an event.
func (s *service[C, U, O, L, E, PE]) sendError(stream grpc.ServerStreamingServer[E], cause error) error {
	encoded, err := apierror.From(cause).ErrStatus.Marshal()
	if err != nil {
		return cause
	}
	out := PE(new(E))
	set(out, typeField, protoreflect.ValueOfString(string(watch.Error)))
	setRaw(out, statusField, encoded)
	return stream.Send((*E)(out))
}

func isExpired(err error) bool {
	return err != nil && apierror.From(err).ErrStatus.Code == 410
}

// maxTimeoutSeconds is what fits into a time.Duration: longer is for ever.
const maxTimeoutSeconds = math.MaxInt64 / int64(time.Second)

// WatchContext returns a context that ends with ctx or after timeoutSeconds, where
// those are more than 0.
func WatchContext(ctx context.Context, timeoutSeconds int64) (context.Context, context.CancelFunc) {
	if timeoutSeconds <= 0 || timeoutSeconds > maxTimeoutSeconds {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, time.Duration(timeoutSeconds)*time.Second)
}

// checkWatch refuses options that do not go together, in Kubernetes' words.
func checkWatch(req *apipb.WatchRequest) error {
	return checkListOptions(&internalversion.ListOptions{
		Watch:                true,
		ResourceVersion:      req.GetResourceVersion(),
		ResourceVersionMatch: metav1.ResourceVersionMatch(req.GetResourceVersionMatch()),
		SendInitialEvents:    req.SendInitialEvents,
	})
}

// listRequest is what says which objects are meant.
type listRequest interface {
	GetLabelSelector() string
	GetFieldSelector() string
	GetLimit() int64
	GetContinue() string
	GetResourceVersion() string
	GetResourceVersionMatch() string
}

func listOptions(req listRequest) (registry.ListOptions, error) {
	o := registry.ListOptions{
		LabelSelector:        req.GetLabelSelector(),
		FieldSelector:        req.GetFieldSelector(),
		Limit:                req.GetLimit(),
		Continue:             req.GetContinue(),
		ResourceVersion:      req.GetResourceVersion(),
		ResourceVersionMatch: metav1.ResourceVersionMatch(req.GetResourceVersionMatch()),
	}
	return o, checkListOptions(&internalversion.ListOptions{
		ResourceVersion: o.ResourceVersion, ResourceVersionMatch: o.ResourceVersionMatch, Continue: o.Continue,
	})
}

func checkListOptions(o *internalversion.ListOptions) error {
	if errs := validation.ValidateListOptions(o, true); len(errs) > 0 {
		return apierrors.NewInvalid(listOptionsKind, "", errs)
	}
	return nil
}

var listOptionsKind = schema.GroupKind{Group: metav1.GroupName, Kind: "ListOptions"}
