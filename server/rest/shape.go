// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package rest

import (
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/berth-run/berth/api"
	"github.com/berth-run/berth/api/table"
)

// shape is what a client wants to see of objects instead of the whole of them.
type shape string

const (
	whole        shape = ""
	asTable      shape = "Table"
	asPartial    shape = "PartialObjectMetadata"
	asPartialAll shape = "PartialObjectMetadataList"
)

// shapeOf reads the parameters of a media type, such as as=Table;g=meta.k8s.io;v=v1.
// A Table has no protobuf form.
func shapeOf(t mediaType, params map[string]string) (shape, bool) {
	as, ok := params["as"]
	if !ok {
		return whole, true
	}
	if params["g"] != metav1.GroupName || params["v"] != "v1" {
		return whole, false
	}
	switch s := shape(as); s {
	case asTable:
		return s, t == mediaJSON
	case asPartial, asPartialAll:
		return asPartial, true
	}
	return whole, false
}

// reshape returns an object or list of an answer in the shape that was asked for.
func (q *request) reshape(o *answerObject) (any, error) {
	if q.shape == whole {
		return o, nil
	}
	list, items, err := o.listed()
	switch {
	case err != nil:
		return nil, err
	case q.shape == asTable:
		return q.table(o.kind, list, items)
	case o.isList():
		return partialList(list, items), nil
	}
	return partial(items[0]), nil
}

func (o *answerObject) isList() bool { return o.list != nil || strings.HasSuffix(o.gvk.Kind, "List") }

// listed returns an answer as a list, be it of one.
func (o *answerObject) listed() (metav1.ListInterface, []api.Object, error) {
	if o.list != nil {
		return &o.list.Meta, o.list.Items, nil
	}
	obj, err := o.decode()
	if err != nil {
		return nil, nil, err
	}
	if list, ok := obj.(metav1.ListInterface); ok {
		items, err := itemsOf(obj)
		return list, items, err
	}
	one := obj.(api.Object)
	return &metav1.ListMeta{ResourceVersion: one.GetResourceVersion()}, []api.Object{one}, nil
}

func itemsOf(list runtime.Object) (items []api.Object, err error) {
	err = meta.EachListItem(list, func(item runtime.Object) error {
		obj, ok := item.(api.Object)
		if !ok {
			return fmt.Errorf("a %T in a list", item)
		}
		items = append(items, obj)
		return nil
	})
	return items, err
}

// table shows objects as rows. The tables of a watch name their columns once.
func (q *request) table(k *api.Kind, list metav1.ListInterface, items []api.Object) (*metav1.Table, error) {
	t := &metav1.Table{
		TypeMeta: metav1.TypeMeta{APIVersion: metav1.SchemeGroupVersion.String(), Kind: string(asTable)},
		ListMeta: listMeta(list),
		Rows:     make([]metav1.TableRow, len(items)),
	}
	if !q.columnsSent {
		t.ColumnDefinitions = table.Columns(k)
		q.columnsSent = q.watch
	}
	now := time.Now()
	for i, obj := range items {
		row := table.Row(k, obj, now)
		switch q.includeObject {
		case metav1.IncludeNone:
			row.Object = runtime.RawExtension{}
		case metav1.IncludeObject:
			row.Object.Object = api.Typed(k, obj)
		default:
			row.Object.Object = partial(obj)
		}
		t.Rows[i] = row
	}
	return t, nil
}

// includePolicy reads the parameter that says what a row carries of its object.
func includePolicy(text string) (metav1.IncludeObjectPolicy, error) {
	switch p := metav1.IncludeObjectPolicy(text); p {
	case "", metav1.IncludeMetadata, metav1.IncludeNone, metav1.IncludeObject:
		return p, nil
	}
	return "", newStatus(400, metav1.StatusReasonBadRequest, "includeObject: Unsupported value: %q: must be None, Metadata or Object", text)
}

// partial is an object without all but its metadata.
func partial(obj api.Object) *metav1.PartialObjectMetadata {
	m := meta.AsPartialObjectMetadata(obj)
	m.SetGroupVersionKind(metav1.SchemeGroupVersion.WithKind(string(asPartial)))
	return m
}

func partialList(list metav1.ListInterface, items []api.Object) *metav1.PartialObjectMetadataList {
	out := &metav1.PartialObjectMetadataList{
		TypeMeta: metav1.TypeMeta{APIVersion: metav1.SchemeGroupVersion.String(), Kind: string(asPartialAll)},
		ListMeta: listMeta(list),
		Items:    make([]metav1.PartialObjectMetadata, len(items)),
	}
	for i, obj := range items {
		out.Items[i] = *partial(obj)
	}
	return out
}

func listMeta(list metav1.ListInterface) metav1.ListMeta {
	return metav1.ListMeta{
		ResourceVersion: list.GetResourceVersion(), Continue: list.GetContinue(), RemainingItemCount: list.GetRemainingItemCount(),
	}
}
