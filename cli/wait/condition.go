// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package wait

import (
	"cmp"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-run/berth/api"
)

// condition is a goal: a condition of the object has that status.
type condition struct{ name, status string }

func parseCondition(argument string) condition {
	name, status, _ := strings.Cut(argument, "=")
	return condition{name, cmp.Or(status, "True")}
}

func (want condition) check(k *api.Kind, obj api.Object) (Verdict, error) {
	conditions, ok := conditionsOf(obj)
	if !ok {
		return Verdict{}, fmt.Errorf("%s have no conditions", k.Resource)
	}
	found := Verdict{Seen: "there is no condition " + want.name}
	for _, c := range conditions {
		if !strings.EqualFold(c.name, want.name) {
			continue
		}
		found.Seen = c.String()
		if strings.EqualFold(c.status, want.status) {
			found.Outcome = Met
		}
	}
	if pod, ok := obj.(*corev1.Pod); ok && want.needsContainers() {
		return running(pod, found), nil
	}
	return found, nil
}

// needsContainers tells whether a pod has that condition only while all of its
// containers run.
func (want condition) needsContainers() bool {
	return strings.EqualFold(want.status, "True") &&
		(strings.EqualFold(want.name, string(corev1.PodReady)) || strings.EqualFold(want.name, string(corev1.ContainersReady)))
}

// stated is what all kinds of conditions have in common.
type stated struct{ name, status, reason, message string }

func (s stated) String() string {
	text := s.name + " is " + s.status
	for _, more := range []string{s.reason, s.message} {
		if more != "" {
			text += ": " + more
		}
	}
	return text
}

// conditionsOf returns the conditions of an object; its kind may have none.
func conditionsOf(obj api.Object) (all []stated, ok bool) {
	switch o := obj.(type) {
	case *corev1.Pod:
		for _, c := range o.Status.Conditions {
			all = append(all, stated{string(c.Type), string(c.Status), c.Reason, c.Message})
		}
	case *corev1.Node:
		for _, c := range o.Status.Conditions {
			all = append(all, stated{string(c.Type), string(c.Status), c.Reason, c.Message})
		}
	case *corev1.Namespace:
		for _, c := range o.Status.Conditions {
			all = append(all, stated{string(c.Type), string(c.Status), c.Reason, c.Message})
		}
	default:
		return nil, false
	}
	return all, true
}
