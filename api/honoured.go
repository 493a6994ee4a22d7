// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"reflect"
	"slices"
	"strings"
)

// notHonoured is the reason for every field that the table below does not name.
const notHonoured = "not honoured by this version of berth"

// fieldRule is one row of the table of PodSpec fields.
type fieldRule struct {
	// path is that of a manifest, below spec; [] stands for every element of a
	// list. A row speaks for the field and all that lies below it.
	path string
	// values that are accepted; nil accepts every value.
	values []any
	// refuse says why no other value is accepted.
	refuse string
	// moot says why every value is accepted and none has an effect.
	moot string
}

// fieldTree is the table by path element: a node with a rule decides, one
// without leads on.
type fieldTree struct {
	rule     *fieldRule
	children map[string]*fieldTree
}

func newFieldTree(rows []fieldRule) *fieldTree {
	root := &fieldTree{}
	for i := range rows {
		node := root
		for _, element := range strings.Split(strings.ReplaceAll(rows[i].path, "[]", ".[]"), ".") {
			node = node.addChild(element)
		}
		node.rule = &rows[i]
	}
	return root
}

func (t *fieldTree) addChild(element string) *fieldTree {
	if t.children == nil {
		t.children = map[string]*fieldTree{}
	}
	if t.children[element] == nil {
		t.children[element] = &fieldTree{}
	}
	return t.children[element]
}

// child is nil for an element that no row leads to. It may be called on nil.
func (t *fieldTree) child(element string) *fieldTree {
	if t == nil {
		return nil
	}
	return t.children[element]
}

// refusal says why a value that is set may not be; empty if it may.
func (r *fieldRule) refusal(v reflect.Value) string {
	switch {
	case r.accepts(v):
		return ""
	case r.refuse != "":
		return r.refuse
	}
	return "this value is " + notHonoured
}

func (r *fieldRule) accepts(v reflect.Value) bool {
	if r.values == nil {
		return r.refuse == ""
	}
	return slices.ContainsFunc(r.values, func(want any) bool {
		if v.Kind() == reflect.String {
			return v.String() == reflect.ValueOf(want).String()
		}
		return reflect.DeepEqual(v.Interface(), want)
	})
}
