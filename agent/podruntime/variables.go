// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podruntime

import runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

// variables are a container's environment as it is being resolved: in the order in
// which names come up first, with the value that came last.
type variables struct {
	names  []string
	values map[string]string
	// size counts them all.
	size *execSize
}

func newVariables(size *execSize) *variables {
	return &variables{values: map[string]string{}, size: size}
}

// set takes a variable in, unless there is no room for it.
func (v *variables) set(name, value string) error {
	if err := v.size.add(overhead(name) + len(value)); err != nil {
		return err
	}
	v.keep(name, value)
	return nil
}

// setExpanded is set for a value that may refer to the variables so far.
func (v *variables) setExpanded(name, value string) error {
	expanded, err := v.size.expand(value, v.values, overhead(name))
	if err != nil {
		return err
	}
	v.keep(name, expanded)
	return nil
}

func (v *variables) keep(name, value string) {
	if _, seen := v.values[name]; !seen {
		v.names = append(v.names, name)
	}
	v.values[name] = value
}

// overhead is what a variable takes beside its value.
func overhead(name string) int { return len(name) + len("=\x00") }

func (v *variables) list() []*runtimeapi.KeyValue {
	env := make([]*runtimeapi.KeyValue, 0, len(v.names))
	for _, name := range v.names {
		env = append(env, &runtimeapi.KeyValue{Key: name, Value: []byte(v.values[name])})
	}
	return env
}
