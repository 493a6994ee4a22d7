// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package rest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"runtime"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/api/meta"
	kruntime "k8s.io/apimachinery/pkg/runtime"
)

// sharedFrom is how many items a list has whose encoding is shared among
// processors: below it, that costs more than it gains.
const sharedFrom = 256

// marshalJSON is json.Marshal, with the items of a long list encoded side by side.
func marshalJSON(v any) ([]byte, error) {
	list, ok := v.(kruntime.Object)
	if !ok || !meta.IsListType(list) {
		return json.Marshal(v)
	}
	ptr, err := meta.GetItemsPtr(list)
	if err != nil {
		return nil, err
	}
	items := reflect.ValueOf(ptr).Elem()
	if items.Len() < sharedFrom {
		return json.Marshal(v)
	}
	frame, err := frameOf(list)
	if err != nil {
		return nil, err
	}
	parts, err := marshalParts(items, runtime.GOMAXPROCS(0))
	if err != nil {
		return nil, err
	}
	return bytes.Join([][]byte{frame, bytes.Join(parts, []byte{','}), []byte("]}")}, nil), nil
}

// frameOf returns the JSON of a list up to its first item. Its items are the last
// that lists have.
func frameOf(list kruntime.Object) ([]byte, error) {
	empty := reflect.New(reflect.TypeOf(list).Elem())
	empty.Elem().Set(reflect.ValueOf(list).Elem())
	items := empty.Elem().FieldByName("Items")
	items.Set(reflect.MakeSlice(items.Type(), 0, 0))
	body, err := json.Marshal(empty.Interface())
	if err != nil {
		return nil, err
	}
	frame, ok := bytes.CutSuffix(body, []byte("]}"))
	if !ok {
		return nil, fmt.Errorf("the items of a %T are not its last field", list)
	}
	return frame, nil
}

// marshalParts returns the items' JSON without brackets, in so many parts.
func marshalParts(items reflect.Value, count int) ([][]byte, error) {
	parts := make([][]byte, count)
	size := (items.Len() + count - 1) / count
	var g errgroup.Group
	for i := range parts {
		from, to := min(i*size, items.Len()), min((i+1)*size, items.Len())
		g.Go(func() error {
			body, err := json.Marshal(items.Slice(from, to).Interface())
			if err == nil {
				parts[i] = body[1 : len(body)-1]
			}
			return err
		})
	}
	return parts, g.Wait()
}
