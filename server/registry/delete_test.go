// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/berth-run/berth/api"
	"github.com/berth-run/berth/store"
	"github.com/berth-run/berth/store/bolt"
)

func TestDecidePodDeletion(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	// ending was asked to end 10 s ago.
	ending := func(grace int64) *corev1.Pod {
		pod := newPod("p", "n1")
		pod.DeletionGracePeriodSeconds = &grace
		pod.DeletionTimestamp = ptr.To(metav1.NewTime(now.Add(time.Duration(grace-10) * time.Second)))
		return pod
	}
	patient := newPod("p", "n1")
	patient.Spec.TerminationGracePeriodSeconds = ptr.To(int64(60))
	tests := map[string]struct {
		pod       *corev1.Pod
		asked     *int64
		nobody    bool // no agent has to end it
		remove    bool
		marked    bool // with a last state that tells the grace
		wantGrace int64
		wantEnd   time.Duration // from now
	}{
		"by default":      {pod: newPod("p", "n1"), wantGrace: 30, wantEnd: 30 * time.Second},
		"by its spec":     {pod: patient, wantGrace: 60, wantEnd: 60 * time.Second},
		"as asked":        {pod: patient, asked: ptr.To(int64(5)), wantGrace: 5, wantEnd: 5 * time.Second},
		"longer, first":   {pod: patient, asked: ptr.To(int64(90)), wantGrace: 90, wantEnd: 90 * time.Second},
		"at once":         {pod: patient, asked: ptr.To(int64(0)), remove: true, marked: true},
		"nobody runs it":  {pod: patient, nobody: true, remove: true},
		"again":           {pod: ending(30), wantGrace: 30, wantEnd: 20 * time.Second},
		"again, sooner":   {pod: ending(30), asked: ptr.To(int64(15)), wantGrace: 15, wantEnd: 5 * time.Second},
		"again, later":    {pod: ending(30), asked: ptr.To(int64(300)), wantGrace: 30, wantEnd: 20 * time.Second},
		"again, at once":  {pod: ending(30), asked: ptr.To(int64(0)), remove: true, marked: true, wantEnd: -10 * time.Second},
		"again, no agent": {pod: ending(30), nobody: true, remove: true},

		"nobody runs it, as asked": {
			pod: patient, nobody: true, asked: ptr.To(int64(5)), remove: true, marked: true, wantGrace: 5, wantEnd: 5 * time.Second},
		"unbound, at once": {pod: newPod("p", ""), nobody: true, asked: ptr.To(int64(0)), remove: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			d := decidePodDeletion(tc.pod, tc.asked, !tc.nobody, now)
			if d.remove != tc.remove {
				t.Fatalf("remove: %t", d.remove)
			}
			if tc.remove && (d.write != nil) != tc.marked {
				t.Fatalf("last state: %+v", d.write)
			}
			if tc.remove && !tc.marked {
				return
			}
			pod := d.write.(*corev1.Pod)
			if *pod.DeletionGracePeriodSeconds != tc.wantGrace || !pod.DeletionTimestamp.Time.Equal(now.Add(tc.wantEnd)) {
				t.Errorf("grace %d, until %s", *pod.DeletionGracePeriodSeconds, pod.DeletionTimestamp)
			}
		})
	}
}

func TestGracefulDeletionEndsWhenTheAgentConfirms(t *testing.T) {
	w := newWorld(t, bolt.Options{})
	w.registerNode("n1")
	pod := w.createPod("web", "n1")
	finish := func(node string, uid types.UID) error {
		return w.FinishPodDeletion(t.Context(), node, "default", "web", uid)
	}
	if err := finish("n1", pod.UID); err != nil || w.pod("web").UID != pod.UID {
		t.Fatalf("a pod that nobody deletes: %v", err)
	}
	deleted := w.deletePod("web", nil)
	if deleted.DeletionTimestamp == nil || *deleted.DeletionGracePeriodSeconds != 30 || deleted.Generation != 2 {
		t.Errorf("deleted: %+v", deleted.ObjectMeta)
	}
	again := w.deletePod("web", nil)
	if again.ResourceVersion != deleted.ResourceVersion {
		t.Error("the same delete again wrote something")
	}
	wantError(t, finish("n2", pod.UID), metav1.StatusReasonForbidden, `bound to node "n1"`)
	if err := finish("n1", "other"); err != nil || w.pod("web").UID != pod.UID {
		t.Errorf("another UID: %v", err)
	}
	if err := finish("n1", pod.UID); err != nil {
		t.Fatal(err)
	}
	_, err := w.Get(t.Context(), api.Pods, "default", "web")
	wantError(t, err, metav1.StatusReasonNotFound, "")
	if err := finish("n1", pod.UID); err != nil {
		t.Errorf("confirmed twice: %v", err)
	}
}

func TestDeletionThatNobodyHasToConfirm(t *testing.T) {
	w := newWorld(t, bolt.Options{})
	w.registerNode("n1")
	w.createPod("unbound", "")
	w.createPod("lost", "unregistered")
	w.createPod("forced", "n1")
	w.createPod("forced-later", "n1")
	w.deletePod("forced-later", nil)
	ended := w.createPod("ended", "n1")
	if err := w.report(ended, corev1.PodStatus{Phase: corev1.PodSucceeded}); err != nil {
		t.Fatal(err)
	}
	for name, grace := range map[string]*int64{"unbound": nil, "lost": nil, "ended": nil, "forced": ptr.To(int64(0)), "forced-later": ptr.To(int64(0))} {
		last := w.deletePod(name, grace)
		if last.DeletionTimestamp != nil {
			t.Errorf("%s lives on", name)
		}
		if _, err := w.Get(t.Context(), api.Pods, "default", name); !apierrors.IsNotFound(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestDeleteRefuses(t *testing.T) {
	w := newWorld(t, bolt.Options{})
	w.createPod("web", "")
	for name, tc := range map[string]struct {
		options metav1.DeleteOptions
		reason  metav1.StatusReason
		words   string
	}{
		"uid": {metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: ptr.To(types.UID("x"))}},
			metav1.StatusReasonConflict, "Precondition failed: UID in precondition: x"},
		"version": {metav1.DeleteOptions{Preconditions: &metav1.Preconditions{ResourceVersion: ptr.To("1")}},
			metav1.StatusReasonConflict, "Precondition failed: ResourceVersion in precondition: 1"},
		"grace": {metav1.DeleteOptions{GracePeriodSeconds: ptr.To(int64(-1))},
			metav1.StatusReasonInvalid, "gracePeriodSeconds: Invalid value: -1"},
	} {
		_, err := w.Delete(t.Context(), api.Pods, "default", "web", tc.options)
		if wantError(t, err, tc.reason, tc.words); t.Failed() {
			t.Errorf("in case %s", name)
		}
	}
	_, err := w.Delete(t.Context(), api.Pods, "default", "none", metav1.DeleteOptions{})
	wantError(t, err, metav1.StatusReasonNotFound, `pods "none" not found`)
}

// overtaking is a store in which something happens right after the next update.
type overtaking struct {
	store.Store
	then func()
}

func (s *overtaking) Update(ctx context.Context, key string, value []byte, expected int64) (int64, error) {
	revision, err := s.Store.Update(ctx, key, value, expected)
	if then := s.then; then != nil {
		s.then = nil
		then()
	}
	return revision, err
}

// A pod that is told to end at once may be confirmed by its agent, and its name
// be taken again, before its record is removed.
func TestB023ADeletionOvertakenByTheAgentIsDone(t *testing.T) {
	for name, taken := range map[string]bool{"gone": false, "a successor": true} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, bolt.Options{})
			w.registerNode("n1")
			pod := w.createPod("web", "n1")
			var successor *corev1.Pod
			s := &overtaking{Store: w.store, then: func() {
				if err := w.FinishPodDeletion(t.Context(), "n1", "default", "web", pod.UID); err != nil {
					t.Fatal(err)
				}
				if taken {
					successor = w.createPod("web", "n1")
				}
			}}
			w.store = s
			deleted, err := w.Delete(t.Context(), api.Pods, "default", "web", metav1.DeleteOptions{GracePeriodSeconds: ptr.To(int64(0))})
			if err != nil {
				t.Fatal(err)
			}
			if deleted.GetUID() != pod.UID || s.then != nil {
				t.Errorf("deleted %s, not %s", deleted.GetUID(), pod.UID)
			}
			if taken && w.pod("web").UID != successor.UID {
				t.Error("the successor was deleted")
			}
		})
	}
}
