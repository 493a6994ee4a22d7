// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package describe

import (
	"cmp"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/berth-run/berth/api"
)

// Related is what else is told of an object.
type Related struct {
	// Events are about the object; nil leaves them out.
	Events []*corev1.Event
	// Pods are those on a node.
	Pods []*corev1.Pod
	// Lease is that of a node, if it has one.
	Lease *coordinationv1.Lease
}

// Object tells what there is to know of an object. now is what ages are reckoned from.
func Object(obj api.Object, related Related, now time.Time) string {
	return write(func(p *page) {
		switch o := obj.(type) {
		case *corev1.Pod:
			p.pod(o, now)
		case *corev1.Node:
			p.node(o, related, now)
		default:
			p.other(o, now)
		}
		p.events(related.Events, now)
	})
}

// other shows what all kinds have in common, and the little that each has beside.
func (p *page) other(obj api.Object, now time.Time) {
	p.name(obj)
	p.labels(obj)
	p.field("Created", moment(obj.GetCreationTimestamp(), now))
	if t := obj.GetDeletionTimestamp(); t != nil {
		p.field("Being Deleted", moment(*t, now))
	}
	p.owner(obj)
	switch o := obj.(type) {
	case *corev1.Namespace:
		p.field("Status", string(o.Status.Phase))
	case *corev1.Secret:
		p.field("Type", string(o.Type))
		p.immutable(o.Immutable)
		p.sizes("Data", o.Data)
	case *corev1.ConfigMap:
		p.immutable(o.Immutable)
		p.texts("Data", o.Data)
		p.sizes("Binary Data", o.BinaryData)
	case *corev1.ServiceAccount:
		p.list("Image pull secrets", pullSecrets(o.ImagePullSecrets))
	case *corev1.Event:
		p.event(o, now)
	case *coordinationv1.Lease:
		p.field("Holder", ptr.Deref(o.Spec.HolderIdentity, ""))
		p.field("Renewed", moment(metav1.Time(ptr.Deref(o.Spec.RenewTime, metav1.MicroTime{})), now))
	}
}

func (p *page) event(e *corev1.Event, now time.Time) {
	about := e.InvolvedObject
	p.field("About", about.Kind+"/"+about.Name)
	p.field("Type", e.Type)
	p.field("Reason", e.Reason)
	p.field("Seen", frequency(e, now))
	p.field("From", cmp.Or(e.Source.Component, e.ReportingController))
	p.field("Message", message(e))
}

func (p *page) immutable(is *bool) {
	if ptr.Deref(is, false) {
		p.field("Immutable", true)
	}
}

func pullSecrets(refs []corev1.LocalObjectReference) []string {
	var out []string
	for _, r := range refs {
		out = append(out, r.Name)
	}
	return out
}
