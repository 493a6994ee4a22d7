// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package informers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/berth-run/berth/api"
)

// step is one write of an object's life. It may be made twice: a server that is
// killed does not say what it has done.
type step struct {
	name string
	do   func(ctx context.Context, r dynamic.ResourceInterface, o life) error
}

var steps = []step{
	{"creation", create},
	{"update", update},
	{"JSON patch", patch(types.JSONPatchType, `[{"op":"add","path":"/metadata/labels/json","value":"patched"}]`)},
	{"merge patch", patch(types.MergePatchType, `{"metadata":{"annotations":{"merge":"patched","updated":null}}}`)},
	{"strategic merge patch", patch(types.StrategicMergePatchType, `{"metadata":{"labels":{"strategic":"patched"}}}`)},
	{"apply", apply},
	{"deletion", deleteSome},
}

// again tells whether a step is done, or must be made again, or has failed.
func again(err error) (done bool, failed error) {
	var status apierrors.APIStatus
	switch {
	case err == nil:
		return true, nil
	case !errors.As(err, &status): // the server was killed
		return false, nil
	case apierrors.IsConflict(err), apierrors.IsServiceUnavailable(err), apierrors.IsTimeout(err):
		return false, nil
	}
	return false, err
}

func create(ctx context.Context, r dynamic.ResourceInterface, o life) error {
	_, err := r.Create(ctx, o.object(), metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

func update(ctx context.Context, r dynamic.ResourceInterface, o life) error {
	object, err := r.Get(ctx, o.name(), metav1.GetOptions{})
	if err != nil {
		return err
	}
	object.SetAnnotations(map[string]string{"updated": "true"})
	_, err = r.Update(ctx, object, metav1.UpdateOptions{})
	return err
}

func patch(t types.PatchType, body string) func(context.Context, dynamic.ResourceInterface, life) error {
	return func(ctx context.Context, r dynamic.ResourceInterface, o life) error {
		_, err := r.Patch(ctx, o.name(), t, []byte(body), metav1.PatchOptions{})
		return err
	}
}

func apply(ctx context.Context, r dynamic.ResourceInterface, o life) error {
	object := o.bare()
	object.SetLabels(map[string]string{"applied": "true"})
	_, err := r.Apply(ctx, o.name(), object, metav1.ApplyOptions{FieldManager: "lives"})
	return err
}

// deleteSome deletes every other object.
func deleteSome(ctx context.Context, r dynamic.ResourceInterface, o life) error {
	if o.i/10%2 == 0 {
		return nil
	}
	err := r.Delete(ctx, o.name(), metav1.DeleteOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

func (o life) name() string { return fmt.Sprintf("life-%d", o.i) }

func (o life) resource(client dynamic.Interface) dynamic.ResourceInterface {
	all := client.Resource(resourceOf(o.kind))
	if o.kind.Namespaced {
		return all.Namespace(metav1.NamespaceDefault)
	}
	return all
}

// bare is an object with nothing but its identity.
func (o life) bare() *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(o.kind.GroupVersionKind())
	object.SetName(o.name())
	return object
}

// contents are what objects need beside their identity.
var contents = map[*api.Kind]string{
	api.Pods: `{"spec":{"nodeName":"absent","containers":[{"name":"c","image":"example.com/web:1",
		"resources":{"requests":{"cpu":"100m","memory":"64Mi"}}}]}}`,
	api.Secrets:    `{"stringData":{"password":"secret"}}`,
	api.ConfigMaps: `{"data":{"key":"value"}}`,
	api.Events: `{"involvedObject":{"kind":"Pod","namespace":"default","name":"life"},"reason":"Lived","message":"It lived","type":"Normal",
		"source":{"component":"lives"}}`,
	api.Leases:          `{"spec":{"holderIdentity":"lives","leaseDurationSeconds":15}}`,
	api.PriorityClasses: `{"value":10}`,
	api.RuntimeClasses:  `{"handler":"runc"}`,
}

func (o life) object() *unstructured.Unstructured {
	object := o.bare()
	if content := contents[o.kind]; content != "" {
		if err := json.Unmarshal([]byte(content), &object.Object); err != nil {
			panic(err) // a typing error in the table above
		}
	}
	object.SetLabels(map[string]string{"app": "lives"})
	object.SetGroupVersionKind(o.kind.GroupVersionKind())
	object.SetName(o.name())
	return object
}
