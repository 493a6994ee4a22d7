// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package rpc

import (
	"fmt"

	"google.golang.org/protobuf/proto"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/validation"

	apipb "github.com/berth-run/berth/proto/berth/api/v1"
	corepb "github.com/berth-run/berth/proto/berth/core/v1"
)

// deleteRequest is what a delete of one object and that of many have in common.
type deleteRequest interface {
	GetOptions() *corepb.DeleteOptions
	GetPropagationPolicy() string
	GetDryRun() []string
	proto.Message
}

// deleteOptions reads the options of a delete from its body and, where the body
// is silent, from its parameters.
func deleteOptions(req deleteRequest) (metav1.DeleteOptions, error) {
	var o metav1.DeleteOptions
	if req.GetOptions() != nil {
		encoded, err := proto.Marshal(req.GetOptions())
		if err == nil {
			err = o.Unmarshal(encoded)
		}
		if err != nil {
			return o, apierrors.NewBadRequest(fmt.Sprintf("the delete options cannot be read: %v", err))
		}
	}
	if o.GracePeriodSeconds == nil {
		o.GracePeriodSeconds = graceOf(req)
	}
	if p := metav1.DeletionPropagation(req.GetPropagationPolicy()); o.PropagationPolicy == nil && p != "" {
		o.PropagationPolicy = &p
	}
	if o.DryRun == nil {
		o.DryRun = req.GetDryRun()
	}
	return o, checkDeleteOptions(&o)
}

// graceOf returns the grace among the parameters, which may be unset.
func graceOf(req deleteRequest) *int64 {
	switch req := req.(type) {
	case *apipb.DeleteRequest:
		return req.GracePeriodSeconds
	case *apipb.DeleteCollectionRequest:
		return req.GracePeriodSeconds
	}
	return nil
}

func checkDeleteOptions(o *metav1.DeleteOptions) error {
	if errs := validation.ValidateDeleteOptions(o); len(errs) > 0 {
		return apierrors.NewInvalid(optionsKind, "", errs)
	}
	return nil
}
