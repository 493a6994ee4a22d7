// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package rest

import (
	"bytes"
	"encoding/json"
	"errors"
	"runtime"

	"golang.org/x/sync/errgroup"

	"github.com/berth-run/berth/api"
	"github.com/berth-run/berth/server/registry"
)

// marshalList writes a list as JSON from its shared items, which are not copied
// into a typed list first. The processors share the work: a list is what a client
// waits for longest.
func marshalList(k *api.Kind, list *registry.List) ([]byte, error) {
	frame, err := listFrame(k, list)
	if err != nil {
		return nil, err
	}
	parts, err := marshalParts(list.Items, runtime.GOMAXPROCS(0))
	if err != nil {
		return nil, err
	}
	size := len(frame) + len(listEnd)
	for _, p := range parts {
		size += len(p)
	}
	body := append(make([]byte, 0, size), frame...)
	for _, p := range parts {
		body = append(body, p...)
	}
	return append(body, listEnd...), nil
}

const listEnd = "]}\n"

var errItemsNotLast = errors.New("the items of the list are not its last field")

// listFrame returns the JSON of a list up to its first item.
func listFrame(k *api.Kind, list *registry.List) ([]byte, error) {
	empty, err := typedList(k, &registry.List{Meta: list.Meta})
	if err != nil {
		return nil, err
	}
	body, err := json.Marshal(empty)
	if err != nil {
		return nil, err
	}
	frame, ok := bytes.CutSuffix(body, []byte("]}"))
	if !ok {
		return nil, errItemsNotLast
	}
	return frame, nil
}

// marshalParts returns the items' JSON, with commas between, in so many parts.
func marshalParts(items []api.Object, count int) ([][]byte, error) {
	parts := make([][]byte, count)
	size := (len(items) + count - 1) / count
	var g errgroup.Group
	for i := range parts {
		from, to := min(i*size, len(items)), min((i+1)*size, len(items))
		g.Go(func() (err error) {
			parts[i], err = marshalItems(items[from:to], from > 0)
			return err
		})
	}
	return parts, g.Wait()
}

// marshalItems begins with a comma where other items come before.
func marshalItems(items []api.Object, comma bool) ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	for i, item := range items {
		if comma || i > 0 {
			out.WriteByte(',')
		}
		if err := encoder.Encode(item); err != nil {
			return nil, err
		}
		out.Truncate(out.Len() - 1) // the encoder ends each value with a newline
		if i == 0 {
			out.Grow(out.Len() * len(items)) // the others are about as long
		}
	}
	return out.Bytes(), nil
}
