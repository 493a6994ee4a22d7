// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package namespaces

import (
	"errors"
	"slices"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/berth-run/berth/api"
)

func content(items ...item) []item { return items }

func pod(name string, change ...func(api.Object)) item {
	return itemOf(api.Pods, &corev1.Pod{}, name, change)
}

func secret(name string, change ...func(api.Object)) item {
	return itemOf(api.Secrets, &corev1.Secret{}, name, change)
}

func event(name string) item { return itemOf(api.Events, &corev1.Event{}, name, nil) }

func lease(name string) item { return itemOf(api.Leases, &coordinationv1.Lease{}, name, nil) }

func itemOf(k *api.Kind, obj api.Object, name string, changes []func(api.Object)) item {
	obj.SetName(name)
	for _, change := range changes {
		change(obj)
	}
	return item{k, obj}
}

func finalizers(names ...string) func(api.Object) {
	return func(obj api.Object) { obj.SetFinalizers(names) }
}

func endingWithin(seconds int64) func(api.Object) {
	return func(obj api.Object) {
		obj.SetDeletionTimestamp(&metav1.Time{})
		obj.SetDeletionGracePeriodSeconds(ptr.To(seconds))
	}
}

func TestWhatIsDue(t *testing.T) {
	for name, tc := range map[string]struct {
		content []item
		want    []string
	}{
		"nothing":          {nil, nil},
		"pods first":       {content(secret("s"), pod("p"), event("e"), pod("q")), []string{"p", "q"}},
		"then the others":  {content(event("e"), secret("s"), lease("l")), []string{"s", "l"}},
		"events last":      {content(event("e")), []string{"e"}},
		"a pod ends":       {content(pod("p", endingWithin(30)), secret("s")), nil},
		"a pod was killed": {content(pod("p", endingWithin(0)), secret("s")), []string{"p"}},
		"held":             {content(pod("p", endingWithin(0), finalizers("a/b")), secret("s")), nil},
		"some are held":    {content(secret("s", endingWithin(0), finalizers("a/b")), secret("t"), event("e")), []string{"t"}},
		"to be held":       {content(secret("s", finalizers("a/b"))), []string{"s"}},
	} {
		var got []string
		for _, i := range due(tc.content) {
			got = append(got, i.GetName())
		}
		if !slices.Equal(got, tc.want) {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}

func TestConditionsSpeakAsKubernetes(t *testing.T) {
	c := conditions(content(pod("p", finalizers("a/b", "c/d")), lease("l"), pod("q", finalizers("a/b"))), []error{errors.New("y"), errors.New("x")})
	want := []corev1.NamespaceCondition{
		{Type: "NamespaceDeletionContentFailure", Status: "True", Reason: "ContentDeletionFailed",
			Message: "Failed to delete all resource types, 2 remaining: x, y"},
		{Type: "NamespaceContentRemaining", Status: "True", Reason: "SomeResourcesRemain",
			Message: "Some resources are remaining: leases.coordination.k8s.io has 1 resource instances, pods. has 2 resource instances"},
		{Type: "NamespaceFinalizersRemaining", Status: "True", Reason: "SomeFinalizersRemain",
			Message: "Some content in the namespace has finalizers remaining: a/b in 2 resource instances, c/d in 1 resource instances"},
	}
	if !apiequality.Semantic.DeepEqual(c, want) {
		t.Errorf("got %+v", c)
	}
	for _, c := range conditions(nil, nil) {
		if c.Status != corev1.ConditionFalse || c.Reason == "" || c.Message == "" {
			t.Errorf("of an empty namespace: %+v", c)
		}
	}
}

func TestConditionsKeepTheirTransitionTime(t *testing.T) {
	began := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	var status corev1.NamespaceStatus
	setConditions(&status, conditions(content(pod("p"), pod("q")), nil), began)
	setConditions(&status, conditions(content(pod("p", finalizers("a/b"))), nil), began.Add(time.Minute))
	if len(status.Conditions) != 3 {
		t.Fatalf("%+v", status.Conditions)
	}
	for i, want := range []time.Duration{0, 0, time.Minute} {
		if got := status.Conditions[i].LastTransitionTime.Sub(began); got != want {
			t.Errorf("%s changed after %s, want %s", status.Conditions[i].Type, got, want)
		}
	}
}
