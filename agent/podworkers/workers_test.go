// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podworkers

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-run/berth/agent/podtypes"
)

func wantSteps(t *testing.T, n *node, uid types.UID, want ...string) {
	t.Helper()
	synctest.Wait()
	if got := n.syncer.steps(uid); !slices.Equal(got, want) {
		t.Errorf("steps of %s: %q, want %q", uid, got, want)
	}
}

func TestLifeOfAPod(t *testing.T) {
	bubble(t, func(t *testing.T, n *node) {
		pod := newPod("web", "u1")
		n.create(pod)
		wantSteps(t, n, "u1", "sync:create")
		n.Resync("u1")
		wantSteps(t, n, "u1", "sync:create", "sync:sync")
		n.update(pod)
		synctest.Wait()
		n.update(deleted(pod, 5))
		wantSteps(t, n, "u1", "sync:create", "sync:sync", "sync:update", "terminating", "terminated")
		if got := n.syncer.last(t, "u1", "terminating").grace; got != 5 {
			t.Errorf("grace %d, want 5", got)
		}
		n.remove(deleted(pod, 5))
		wantSteps(t, n, "u1", "sync:create", "sync:sync", "sync:update", "terminating", "terminated")
		if known := n.SyncKnownPods(nil); len(known) != 0 {
			t.Errorf("still known: %v", known)
		}
	})
}

// The first step takes what is known, a later one what was read since the runtime
// last did something for the pod: a step that did nothing changes nothing.
func TestStepsAskForReadingsSinceTheLastAction(t *testing.T) {
	bubble(t, func(t *testing.T, n *node) {
		acted := time.Now()
		for i, tc := range []struct {
			outcome podtypes.SyncOutcome
			err     error
		}{
			{podtypes.SyncOutcome{ActedAt: acted}, nil},
			{podtypes.SyncOutcome{}, nil},
			{podtypes.SyncOutcome{ActedAt: acted.Add(time.Second)}, errors.New("a start failed")},
			{podtypes.SyncOutcome{}, errors.New("no network")},
			{podtypes.SyncOutcome{}, nil},
		} {
			n.syncer.syncPod = func(context.Context, podtypes.SyncType, *corev1.Pod) (podtypes.SyncOutcome, error) {
				return tc.outcome, tc.err
			}
			if i == 0 {
				n.create(newPod("web", "u1"))
			} else {
				n.Resync("u1")
			}
			synctest.Wait()
		}
		want := []time.Time{{}, acted, acted, acted.Add(time.Second), acted.Add(time.Second)}
		if got := n.cache.min; !slices.EqualFunc(got, want, time.Time.Equal) {
			t.Errorf("asked for readings newer than %v, want %v", got, want)
		}
	})
}

// Of what the other steps do, nobody tells but their end.
func TestStepsAfterTerminatingAskForReadingsSinceItsEnd(t *testing.T) {
	bubble(t, func(t *testing.T, n *node) {
		fails := errors.New("still runs")
		n.syncer.terminating = func(context.Context, *corev1.Pod, int64) error { return fails }
		n.create(newPod("web", "u1"))
		synctest.Wait()
		time.Sleep(time.Second)
		ended := time.Now()
		n.update(deleted(newPod("web", "u1"), 5))
		synctest.Wait()
		time.Sleep(firstBackOff)
		synctest.Wait()
		if got := n.cache.min; len(got) != 3 || !got[2].Equal(ended) {
			t.Errorf("asked for readings newer than %v, want the last %v", got, ended)
		}
	})
}

func TestUpdatesBeforeRunAreKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		syncer := &fakeSyncer{running: map[types.UID]bool{}}
		p := New(Config{
			Syncer: syncer, Cache: &fakeCache{}, Statuses: &fakeStatuses{}, Recorder: &fakeRecorder{},
		})
		p.DispatchPod(podtypes.SyncCreate, newPod("web", "u1"), nil)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- p.Run(ctx) }()
		synctest.Wait()
		if got := syncer.steps("u1"); len(got) != 1 {
			t.Errorf("steps %q", got)
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// A delete ends the pull that SyncPod is waiting for, and no SyncPod follows it.
func TestB015DeleteDuringPullCancelsIt(t *testing.T) {
	bubble(t, func(t *testing.T, n *node) {
		n.syncer.syncPod = func(ctx context.Context, _ podtypes.SyncType, _ *corev1.Pod) (podtypes.SyncOutcome, error) {
			return podtypes.SyncOutcome{}, untilDone(ctx, time.Hour)
		}
		pod := newPod("web", "u1")
		n.create(pod)
		time.Sleep(5 * time.Second)
		n.update(deleted(pod, 0))
		wantSteps(t, n, "u1", "sync:create", "terminating", "terminated")
		if c := n.syncer.last(t, "u1", "terminated"); c.at != 5*time.Second {
			t.Errorf("terminated at %v, want at the delete", c.at)
		}
	})
}

func TestB011PodThatCannotStartCanBeDeleted(t *testing.T) {
	bubble(t, func(t *testing.T, n *node) {
		n.syncer.syncPod = func(context.Context, podtypes.SyncType, *corev1.Pod) (podtypes.SyncOutcome, error) {
			return podtypes.SyncOutcome{}, errors.New("RunContainerError")
		}
		pod := newPod("web", "u1")
		n.create(pod)
		time.Sleep(time.Minute)
		before := len(n.syncer.steps("u1"))
		n.update(deleted(pod, 30))
		synctest.Wait()
		if got := n.syncer.steps("u1")[before:]; !slices.Equal(got, []string{"terminating", "terminated"}) {
			t.Errorf("after the delete: %q", got)
		}
	})
}

func TestShorterGraceAppliesAtOnce(t *testing.T) {
	tests := map[string]struct {
		again func(n *node, pod *corev1.Pod)
		want  time.Duration // when the pod is gone
	}{
		"shorter":       {func(n *node, pod *corev1.Pod) { n.update(deleted(pod, 20)) }, 20 * time.Second},
		"none":          {func(n *node, pod *corev1.Pod) { n.update(deleted(pod, 0)) }, 10 * time.Second},
		"longer":        {func(n *node, pod *corev1.Pod) { n.update(deleted(pod, 300)) }, 30 * time.Second},
		"forced":        {func(n *node, pod *corev1.Pod) { n.remove(deleted(pod, 0)) }, 10 * time.Second},
		"record gone":   {func(n *node, pod *corev1.Pod) { n.remove(deleted(pod, 30)) }, 30 * time.Second},
		"over already":  {func(n *node, pod *corev1.Pod) { n.update(deleted(pod, 5)) }, 10 * time.Second},
		"again, a sync": {func(n *node, _ *corev1.Pod) { n.Resync("u1") }, 30 * time.Second},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, n *node) {
				n.syncer.terminating = func(ctx context.Context, _ *corev1.Pod, grace int64) error {
					return untilDone(ctx, time.Duration(grace)*time.Second)
				}
				pod := newPod("web", "u1")
				n.create(pod)
				synctest.Wait()
				n.update(deleted(pod, 30))
				time.Sleep(10 * time.Second)
				test.again(n, pod)
				time.Sleep(10 * time.Minute)
				if c := n.syncer.last(t, "u1", "terminated"); c.at != test.want {
					t.Errorf("gone at %v, want %v", c.at, test.want)
				}
			})
		})
	}
}

func TestWhatAnInterruptedStepReturnsDoesNotMatter(t *testing.T) {
	bubble(t, func(t *testing.T, n *node) {
		n.syncer.syncPod = func(ctx context.Context, _ podtypes.SyncType, _ *corev1.Pod) (podtypes.SyncOutcome, error) {
			_ = untilDone(ctx, time.Hour)
			return podtypes.SyncOutcome{Terminal: true}, nil
		}
		n.syncer.terminating = func(ctx context.Context, _ *corev1.Pod, grace int64) error {
			_ = untilDone(ctx, time.Duration(grace)*time.Second)
			return nil
		}
		pod := newPod("web", "u1")
		n.create(pod)
		synctest.Wait()
		n.update(deleted(pod, 30))
		time.Sleep(10 * time.Second)
		n.update(deleted(pod, 20))
		time.Sleep(time.Minute)
		wantSteps(t, n, "u1", "sync:create", "terminating", "terminating", "terminated")
		if c := n.syncer.last(t, "u1", "terminated"); c.at != 20*time.Second {
			t.Errorf("terminated at %v, want 20 s", c.at)
		}
	})
}

func TestFailedTerminationIsRetriedWithWhatIsLeftOfTheGrace(t *testing.T) {
	bubble(t, func(t *testing.T, n *node) {
		var graces []int64
		n.syncer.terminating = func(_ context.Context, _ *corev1.Pod, grace int64) error {
			graces = append(graces, grace)
			time.Sleep(4 * time.Second)
			if len(graces) < 4 {
				return errors.New("runtime is away")
			}
			return nil
		}
		pod := newPod("web", "u1")
		n.create(pod)
		synctest.Wait()
		n.remove(deleted(pod, 10)) // no source has it: only the worker itself can retry
		time.Sleep(time.Minute)
		wantSteps(t, n, "u1", "sync:create", "terminating", "terminating", "terminating", "terminating", "terminated")
		if want := []int64{10, 6, 1, 0}; !slices.Equal(graces, want) {
			t.Errorf("graces %v, want %v", graces, want)
		}
	})
}

func TestKillTellsWhenNothingRuns(t *testing.T) {
	bubble(t, func(t *testing.T, n *node) {
		n.syncer.terminating = func(ctx context.Context, _ *corev1.Pod, grace int64) error {
			return untilDone(ctx, time.Duration(grace)*time.Second)
		}
		n.syncer.terminated = func(ctx context.Context, _ *corev1.Pod) error { return untilDone(ctx, time.Hour) }
		pod := newPod("web", "u1")
		n.create(pod)
		kill := func(reason string) chan struct{} {
			completed, grace := make(chan struct{}), int64(7)
			n.UpdatePod(UpdatePodOptions{Type: podtypes.SyncKill, Pod: pod, Kill: KillPodOptions{
				Evict: true, GracePeriodSeconds: &grace, Completed: completed,
				PodStatusFunc: func(s *corev1.PodStatus) { s.Phase, s.Reason = corev1.PodFailed, reason },
			}})
			return completed
		}
		first, second := kill("Evicted"), kill("Preempted")
		<-first
		<-second
		c := n.syncer.last(t, "u1", "terminating")
		if c.grace != 7 || c.status.Reason != "Evicted" || time.Since(n.syncer.began) != 7*time.Second {
			t.Errorf("killed with %+v after %v", c, time.Since(n.syncer.began))
		}
		<-kill("late") // at once
	})
}

func TestTerminalOutcomeEndsThePod(t *testing.T) {
	bubble(t, func(t *testing.T, n *node) {
		n.syncer.syncPod = func(context.Context, podtypes.SyncType, *corev1.Pod) (podtypes.SyncOutcome, error) {
			return podtypes.SyncOutcome{Terminal: true}, nil
		}
		pod := newPod("job", "u1")
		n.create(pod)
		wantSteps(t, n, "u1", "sync:create", "terminating", "terminated")
		if known := n.SyncKnownPods([]*corev1.Pod{pod}); !known.Has("u1") {
			t.Error("forgotten though its source has it")
		}
		n.update(pod)
		n.Resync("u1")
		wantSteps(t, n, "u1", "sync:create", "terminating", "terminated")

		// What it keeps for its readers goes when the source deletes it, once.
		n.update(deleted(pod, 30))
		n.remove(deleted(pod, 30))
		wantSteps(t, n, "u1", "sync:create", "terminating", "terminated", "terminated")
	})
}

func TestDeleteWhileAFinishedPodIsReleased(t *testing.T) {
	bubble(t, func(t *testing.T, n *node) {
		n.syncer.syncPod = func(context.Context, podtypes.SyncType, *corev1.Pod) (podtypes.SyncOutcome, error) {
			return podtypes.SyncOutcome{Terminal: true}, nil
		}
		var released []bool
		n.syncer.terminated = func(ctx context.Context, pod *corev1.Pod) error {
			released = append(released, pod.DeletionTimestamp != nil)
			return untilDone(ctx, time.Second)
		}
		pod := newPod("job", "u1")
		n.create(pod)
		synctest.Wait()
		n.update(deleted(pod, 30))
		time.Sleep(time.Minute)
		synctest.Wait()
		if want := []bool{false, true}; !slices.Equal(released, want) {
			t.Errorf("released as deleted: %v, want %v", released, want)
		}
	})
}

func TestTerminalPodIsNeverSynced(t *testing.T) {
	bubble(t, func(t *testing.T, n *node) {
		failed := newPod("job", "u1")
		failed.Status.Phase = corev1.PodFailed
		n.create(failed)
		wantSteps(t, n, "u1", "terminating", "terminated")

		n.statuses.set("u2", corev1.PodStatus{Phase: corev1.PodSucceeded}) // not yet at the server
		n.create(newPod("other", "u2"))
		wantSteps(t, n, "u2", "terminating", "terminated")
	})
}

func TestOrphan(t *testing.T) {
	bubble(t, func(t *testing.T, n *node) {
		fails := 2
		n.syncer.terminatingRuntime = func(context.Context, *podtypes.RuntimePod) error {
			if fails--; fails >= 0 {
				return errors.New("runtime is away")
			}
			return nil
		}
		n.KillOrphan(&podtypes.RuntimePod{UID: "u1", Namespace: "default", Name: "web"})
		synctest.Wait()
		n.KillOrphan(&podtypes.RuntimePod{UID: "u1", Namespace: "default", Name: "web"})
		time.Sleep(10 * time.Second)
		wantSteps(t, n, "u1", "orphan", "orphan", "orphan")
		if known := n.SyncKnownPods(nil); len(known) != 0 {
			t.Errorf("still known: %v", known)
		}
	})
}

func TestOrphanIsNoWordAgainstAWorker(t *testing.T) {
	bubble(t, func(t *testing.T, n *node) {
		n.create(newPod("web", "u1"))
		synctest.Wait()
		n.KillOrphan(&podtypes.RuntimePod{UID: "u1", Namespace: "default", Name: "web"})
		wantSteps(t, n, "u1", "sync:create")
	})
}

func TestSuccessorWaitsForTheReleaseOfItsPredecessor(t *testing.T) {
	release := map[string]func(n *node, pod *corev1.Pod){
		"deleted": func(n *node, pod *corev1.Pod) { n.remove(deleted(pod, 0)) },
		"orphan": func(n *node, pod *corev1.Pod) {
			n.KillOrphan(&podtypes.RuntimePod{UID: "u1", Namespace: pod.Namespace, Name: pod.Name})
		},
	}
	for name, end := range release {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, n *node) {
				n.syncer.terminated = func(context.Context, *corev1.Pod) error { time.Sleep(10 * time.Second); return nil }
				n.syncer.terminatingRuntime = func(context.Context, *podtypes.RuntimePod) error { time.Sleep(10 * time.Second); return nil }
				end(n, newPod("web", "u1"))
				n.create(newPod("web", "u2"))
				n.create(newPod("other", "u3"))
				wantSteps(t, n, "u3", "sync:create")
				wantSteps(t, n, "u2")
				time.Sleep(9 * time.Second)
				n.Resync("u2")
				wantSteps(t, n, "u2")
				time.Sleep(time.Second)
				wantSteps(t, n, "u2", "sync:create")
			})
		})
	}
}

func TestWaitingSuccessorThatIsDeletedLetsTheNextStart(t *testing.T) {
	bubble(t, func(t *testing.T, n *node) {
		n.syncer.terminated = func(_ context.Context, pod *corev1.Pod) error {
			if pod.UID == "u1" {
				time.Sleep(10 * time.Second)
			}
			return nil
		}
		n.remove(newPod("web", "u1"))
		n.create(newPod("web", "u2"))
		n.create(newPod("web", "u3"))
		synctest.Wait()
		n.remove(newPod("web", "u2"))
		wantSteps(t, n, "u2", "terminating", "terminated")
		wantSteps(t, n, "u3")
		time.Sleep(10 * time.Second)
		wantSteps(t, n, "u3", "sync:create")
	})
}

func TestUIDThatComesAgainStartsAnew(t *testing.T) {
	bubble(t, func(t *testing.T, n *node) {
		pod := newPod("web", "u1")
		n.create(pod)
		synctest.Wait()
		n.remove(pod)
		n.create(pod) // while it is ending
		wantSteps(t, n, "u1", "sync:create", "terminating", "terminated")
		ended := time.Now()
		time.Sleep(time.Second)
		if known := n.SyncKnownPods([]*corev1.Pod{pod}); known.Has("u1") {
			t.Fatal("the former run is not forgotten")
		}
		n.create(pod)
		wantSteps(t, n, "u1", "sync:create", "terminating", "terminated", "sync:create")
		if got := n.cache.min[len(n.cache.min)-1]; !got.Equal(ended) {
			t.Errorf("the new run began with a reading newer than %v, want %v: the end of the former", got, ended)
		}
	})
}

func TestB022DeadlineEvictsAtItsMoment(t *testing.T) {
	seconds := int64(5)
	limited := func() *corev1.Pod {
		pod := newPod("job", "u1")
		pod.Spec.ActiveDeadlineSeconds = &seconds
		return pod
	}
	check := func(t *testing.T, n *node, at time.Duration) {
		t.Helper()
		synctest.Wait()
		c := n.syncer.last(t, "u1", "terminating")
		if c.at != at || c.status.Phase != corev1.PodFailed || c.status.Reason != "DeadlineExceeded" {
			t.Errorf("terminated with %+v, want at %v", c, at)
		}
		if !slices.Equal(n.recorder.events, []string{"job DeadlineExceeded"}) {
			t.Errorf("events %q", n.recorder.events)
		}
	}
	started := func(n *node) {
		now := metav1.Now()
		n.statuses.set("u1", corev1.PodStatus{StartTime: &now})
	}

	t.Run("running", func(t *testing.T) {
		bubble(t, func(t *testing.T, n *node) {
			n.syncer.syncPod = func(context.Context, podtypes.SyncType, *corev1.Pod) (podtypes.SyncOutcome, error) {
				if _, ok := n.statuses.PodStatus("u1"); !ok {
					time.Sleep(time.Second)
					started(n)
				}
				return podtypes.SyncOutcome{}, nil
			}
			n.create(limited())
			time.Sleep(time.Hour)
			check(t, n, 6*time.Second)
		})
	})
	t.Run("while pulling", func(t *testing.T) {
		bubble(t, func(t *testing.T, n *node) {
			n.syncer.syncPod = func(ctx context.Context, _ podtypes.SyncType, _ *corev1.Pod) (podtypes.SyncOutcome, error) {
				started(n)
				return podtypes.SyncOutcome{}, untilDone(ctx, time.Hour)
			}
			n.create(limited())
			time.Sleep(time.Hour)
			check(t, n, 5*time.Second)
		})
	})
	t.Run("while nothing succeeds", func(t *testing.T) {
		bubble(t, func(t *testing.T, n *node) {
			n.syncer.syncPod = func(context.Context, podtypes.SyncType, *corev1.Pod) (podtypes.SyncOutcome, error) {
				if len(n.syncer.steps("u1")) == 1 {
					started(n)
				}
				return podtypes.SyncOutcome{}, errors.New("ErrImagePull")
			}
			n.create(limited())
			time.Sleep(time.Hour)
			check(t, n, 5*time.Second)
		})
	})
	t.Run("restarted agent", func(t *testing.T) {
		bubble(t, func(t *testing.T, n *node) {
			pod := limited()
			pod.Status.StartTime = &metav1.Time{Time: time.Now().Add(-3 * time.Second)}
			n.create(pod)
			time.Sleep(time.Hour)
			check(t, n, 2*time.Second)
		})
	})
	t.Run("passed while the agent was away", func(t *testing.T) {
		bubble(t, func(t *testing.T, n *node) {
			pod := limited()
			pod.Status.StartTime = &metav1.Time{Time: time.Now().Add(-time.Hour)}
			n.create(pod)
			check(t, n, 0)
			wantSteps(t, n, "u1", "terminating", "terminated")
		})
	})
	t.Run("set later", func(t *testing.T) {
		bubble(t, func(t *testing.T, n *node) {
			n.create(newPod("job", "u1"))
			started(n)
			time.Sleep(3 * time.Second)
			n.update(limited())
			time.Sleep(time.Hour)
			check(t, n, 5*time.Second)
		})
	})
}

func TestWhenAPodIsSyncedAgain(t *testing.T) {
	at := func(f func(n int) (podtypes.SyncOutcome, error), d time.Duration) (times []time.Duration) {
		bubble(t, func(t *testing.T, n *node) {
			n.syncer.syncPod = func(context.Context, podtypes.SyncType, *corev1.Pod) (podtypes.SyncOutcome, error) {
				return f(len(n.syncer.steps("u1")))
			}
			n.create(newPod("web", "u1"))
			time.Sleep(d)
			synctest.Wait()
			for _, c := range n.syncer.calls {
				times = append(times, c.at)
			}
		})
		return times
	}
	fail := errors.New("transient")

	got := at(func(int) (podtypes.SyncOutcome, error) {
		return podtypes.SyncOutcome{RetryAfter: 10 * time.Second}, nil
	}, 21*time.Second)
	if want := []time.Duration{0, 10 * time.Second, 20 * time.Second}; !slices.Equal(got, want) {
		t.Errorf("as asked: %v, want %v", got, want)
	}
	got = at(func(int) (podtypes.SyncOutcome, error) { return podtypes.SyncOutcome{}, fail }, 4*time.Second)
	if want := []time.Duration{0, 500 * time.Millisecond, 1500 * time.Millisecond, 3500 * time.Millisecond}; !slices.Equal(got, want) {
		t.Errorf("after errors: %v, want %v", got, want)
	}
	got = at(func(n int) (podtypes.SyncOutcome, error) {
		return podtypes.SyncOutcome{RetryAfter: 100 * time.Millisecond}, fail
	}, 150*time.Millisecond)
	if want := []time.Duration{0, 100 * time.Millisecond}; !slices.Equal(got, want) {
		t.Errorf("after an error, as asked: %v, want %v", got, want)
	}
	got = at(func(int) (podtypes.SyncOutcome, error) { return podtypes.SyncOutcome{}, nil }, 91*time.Second)
	if len(got) != 2 || got[1] < time.Minute {
		t.Errorf("resync: %v, want one between 60 s and 90 s", got)
	}
}

func TestShutdownWaitsForEveryStepAndLeavesPods(t *testing.T) {
	bubble(t, func(t *testing.T, n *node) {
		n.syncer.syncPod = func(ctx context.Context, _ podtypes.SyncType, _ *corev1.Pod) (podtypes.SyncOutcome, error) {
			err := untilDone(ctx, time.Hour)
			time.Sleep(3 * time.Second) // a step that needs time to let go
			return podtypes.SyncOutcome{}, err
		}
		for i := range 10 {
			n.create(newPod(fmt.Sprint("web", i), types.UID(fmt.Sprint("u", i))))
		}
		synctest.Wait()
		n.stop()
		if got := time.Since(n.syncer.began); got != 3*time.Second {
			t.Errorf("Run returned after %v, want 3 s", got)
		}
		for i := range 10 {
			wantSteps(t, n, types.UID(fmt.Sprint("u", i)), "sync:create")
		}
	})
}

func TestThousandPods(t *testing.T) {
	bubble(t, func(t *testing.T, n *node) {
		n.syncer.syncPod = func(context.Context, podtypes.SyncType, *corev1.Pod) (podtypes.SyncOutcome, error) {
			time.Sleep(time.Second)
			return podtypes.SyncOutcome{}, nil
		}
		var pods []*corev1.Pod
		for i := range 1000 {
			pods = append(pods, newPod(fmt.Sprint("p", i), types.UID(fmt.Sprint("u", i))))
			n.create(pods[i])
		}
		for _, pod := range pods {
			go n.Resync(pod.UID)
			go n.update(pod)
		}
		time.Sleep(10 * time.Second)
		for _, pod := range pods {
			go n.remove(deleted(pod, 1))
		}
		time.Sleep(10 * time.Second)
		for _, pod := range pods {
			steps := n.syncer.steps(pod.UID)
			if len(steps) < 3 || !slices.Equal(steps[len(steps)-2:], []string{"terminating", "terminated"}) {
				t.Fatalf("steps of %s: %q", pod.UID, steps)
			}
		}
		if known := n.SyncKnownPods(nil); len(known) != 0 {
			t.Errorf("%d are still known", len(known))
		}
	})
}
