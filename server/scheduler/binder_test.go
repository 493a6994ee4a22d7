// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package scheduler

import (
	"context"
	"errors"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-run/berth/api"
	"github.com/berth-run/berth/server/registry"
)

// fakeRegistry answers every write with err.
type fakeRegistry struct {
	err    error
	writes int
}

func (r *fakeRegistry) Bind(context.Context, string, *corev1.Binding) error {
	r.writes++
	return r.err
}

func (r *fakeRegistry) UpdateStatus(_ context.Context, _ *api.Kind, _, _ string, obj api.Object, _ registry.WriteOptions) (api.Object, error) {
	r.writes++
	return obj, r.err
}

// fakeEvents keeps what is told as lines.
type fakeEvents struct{ lines []string }

func (e *fakeEvents) Record(about corev1.ObjectReference, eventType, reason, message string) {
	e.lines = append(e.lines, about.Kind+" "+about.Namespace+"/"+about.Name+" "+string(about.UID)+" "+eventType+" "+reason+" "+message)
}

func TestWhatTheBinderTells(t *testing.T) {
	const full = "0/1 nodes are available: n1: Insufficient cpu."
	gone := apierrors.NewNotFound(api.Pods.GroupResource(), "web")
	broken := errors.New("the disk is full")
	waiting := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web", UID: "uid-1"}}
	told := waiting.DeepCopy()
	api.SetPodCondition(&told.Status, corev1.PodCondition{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Message: full})

	bind := func(b Binder, pod *corev1.Pod) error { return b.Bind(context.Background(), pod, "n1") }
	refuse := func(v Verdict) func(Binder, *corev1.Pod) error {
		return func(b Binder, pod *corev1.Pod) error { return b.Unschedulable(context.Background(), pod, v) }
	}
	const scheduled = "Pod default/web uid-1 Normal Scheduled Successfully assigned default/web to n1"
	const failed = "Pod default/web uid-1 Warning FailedScheduling " + full
	for name, tc := range map[string]struct {
		do     func(Binder, *corev1.Pod) error
		pod    *corev1.Pod
		answer error
		events []string
		writes int
		fails  bool
	}{
		"bound":                  {bind, waiting, nil, []string{scheduled}, 1, false},
		"bound too late":         {bind, waiting, gone, nil, 1, false},
		"not bound":              {bind, waiting, broken, nil, 1, true},
		"no node":                {refuse(Verdict{Message: full}), waiting, nil, []string{failed}, 1, false},
		"no node, told before":   {refuse(Verdict{Message: full}), told, nil, nil, 0, false},
		"no node, to remind":     {refuse(Verdict{Message: full, Remind: true}), told, nil, []string{failed}, 0, false},
		"no node, first, remind": {refuse(Verdict{Message: full, Remind: true}), waiting, nil, []string{failed}, 1, false},
		"no node, gone":          {refuse(Verdict{Message: full}), waiting, gone, nil, 1, false},
		"no node, not stored":    {refuse(Verdict{Message: full}), waiting, broken, nil, 1, true},
	} {
		t.Run(name, func(t *testing.T) {
			reg, events := &fakeRegistry{err: tc.answer}, &fakeEvents{}
			err := tc.do(NewBinder(reg, events), tc.pod)
			if (err != nil) != tc.fails {
				t.Errorf("error %v", err)
			}
			if !slices.Equal(events.lines, tc.events) || reg.writes != tc.writes {
				t.Errorf("told %q with %d writes, want %q with %d", events.lines, reg.writes, tc.events, tc.writes)
			}
		})
	}
}
