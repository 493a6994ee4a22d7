// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package wait

import (
	"fmt"
	"strings"

	"github.com/berth-run/berth/api"
)

// Goal is what is waited for. An error of its check means that objects of that kind
// never say.
type Goal struct {
	text string
	// Create and Delete tell that the goal is that the object is there, or is not.
	Create, Delete bool
	check          func(k *api.Kind, obj api.Object) (Verdict, error)
}

// String is the goal in the words in which it was given.
func (g Goal) String() string { return g.text }

// Check looks at an object of kind k.
func (g Goal) Check(k *api.Kind, obj api.Object) (Verdict, error) { return g.check(k, obj) }

// Parse reads a goal: ready, create, delete, condition=NAME[=VALUE], phase=PHASE or
// jsonpath=EXPRESSION[=VALUE].
func Parse(text string) (Goal, error) {
	g := Goal{text: text}
	name, argument, has := strings.Cut(text, "=")
	switch {
	case text == "ready":
		g.check = condition{"Ready", "True"}.check
	case text == "create":
		g.Create, g.check = true, exists
	case text == "delete":
		g.Delete, g.check = true, ends
	case name == "condition" && argument != "":
		g.check = parseCondition(argument).check
	case name == "phase" && argument != "":
		g.check = phase(argument).check
	case name == "jsonpath" && has:
		path, err := parseJSONPath(argument)
		if err != nil {
			return Goal{}, err
		}
		g.check = path.check
	default:
		return Goal{}, fmt.Errorf("%q: must be ready, create, delete, condition=NAME[=VALUE], phase=PHASE "+
			"or jsonpath='{EXPRESSION}'[=VALUE]", text)
	}
	return g, nil
}

// All looks at an object with several goals, which are met when all of them are at
// once. One that is out of reach puts all of them out of reach.
func All(goals []Goal, k *api.Kind, obj api.Object) (Verdict, error) {
	out := Verdict{Outcome: Met}
	for _, g := range goals {
		v, err := g.Check(k, obj)
		switch {
		case err != nil:
			return Verdict{}, fmt.Errorf("%s: %w", g, err)
		case v.Outcome == Met:
		case out.Outcome == Met || out.Outcome == Pending && v.Outcome != Pending:
			out = v
		}
	}
	return out, nil
}

func exists(*api.Kind, api.Object) (Verdict, error) { return Verdict{Outcome: Met}, nil }

// ends takes what is there as not gone yet: its end is no state of it.
func ends(_ *api.Kind, obj api.Object) (Verdict, error) {
	if obj.GetDeletionTimestamp() == nil {
		return Verdict{Seen: "it is still there and not being deleted"}, nil
	}
	return Verdict{Seen: "it is being deleted"}, nil
}
