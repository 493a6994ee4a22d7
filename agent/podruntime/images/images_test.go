// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package images

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/codes"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/berth-run/berth/agent/cri/fake"
	"github.com/berth-run/berth/agent/cri/fault"
	"github.com/berth-run/berth/agent/podruntime/images/credentials"
)

func TestParseReference(t *testing.T) {
	for image, want := range map[string]reference{
		"nginx":                       {"nginx:latest", credentials.Image{Registry: "index.docker.io", Repository: "library/nginx"}},
		"nginx:1.14.2":                {"nginx:1.14.2", credentials.Image{Registry: "index.docker.io", Repository: "library/nginx"}},
		"localhost:5000/app":          {"localhost:5000/app:latest", credentials.Image{Registry: "localhost:5000", Repository: "app"}},
		"registry.test/a/b:latest":    {"registry.test/a/b:latest", credentials.Image{Registry: "registry.test", Repository: "a/b"}},
		"registry.test/a@" + digest:   {"registry.test/a@" + digest, credentials.Image{Registry: "registry.test", Repository: "a"}},
		"registry.test/a:1@" + digest: {"registry.test/a:1@" + digest, credentials.Image{Registry: "registry.test", Repository: "a"}},
	} {
		if got, err := parseReference(image); err != nil || got != want {
			t.Errorf("%s: %+v, %v; want %+v", image, got, err, want)
		}
	}
	for _, image := range []string{"", "Upper/case", "a:b:c", "a b", "registry.test/a@sha256:12"} {
		if got, err := parseReference(image); err == nil {
			t.Errorf("%q: %+v", image, got)
		}
	}
}

var digest = "sha256:" + strings.Repeat("a", 64)

func TestPolicies(t *testing.T) {
	for name, tc := range map[string]struct {
		policy corev1.PullPolicy
		image  string
		pulls  int
		reason string
	}{
		"IfNotPresent, present": {policy: corev1.PullIfNotPresent, image: "here:1"},
		"IfNotPresent, absent":  {policy: corev1.PullIfNotPresent, image: "there:1", pulls: 1},
		"Always, present":       {policy: corev1.PullAlways, image: "here:1", pulls: 1},
		"Never, present":        {policy: corev1.PullNever, image: "here:1"},
		"Never, absent":         {policy: corev1.PullNever, image: "there:1", reason: ErrImageNeverPull},
		"a bad name":            {policy: corev1.PullAlways, image: "Bad", reason: InvalidImageName},
	} {
		f := fake.New("here:1")
		id, err := manager(f).Ensure(t.Context(), request("uid-1", tc.image, tc.policy))
		if e := (*Error)(nil); errors.As(err, &e) != (tc.reason != "") || e != nil && e.Reason != tc.reason {
			t.Errorf("%s: %v, want reason %q", name, err, tc.reason)
		}
		if (id == "") != (tc.reason != "") {
			t.Errorf("%s: id %q", name, id)
		}
		if got := len(f.Calls("PullImage")); got != tc.pulls {
			t.Errorf("%s: %d pulls, want %d", name, got, tc.pulls)
		}
	}
}

func TestOneImageIsPulledOnceAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := fake.New()
		f.Faults.Add(fault.Rule{Method: "PullImage", Delay: time.Minute})
		m := manager(f)
		start := time.Now()
		var calls sync.WaitGroup
		for _, image := range []string{"a:1", "a:1", "a:1", "b:1"} {
			calls.Go(func() {
				if _, err := m.Ensure(t.Context(), request("uid-1", image, corev1.PullAlways)); err != nil {
					t.Error(err)
				}
			})
		}
		calls.Wait()
		if got := len(f.Calls("PullImage")); got != 2 || time.Since(start) != time.Minute {
			t.Errorf("%d pulls in %s, want 2 at the same time", got, time.Since(start))
		}
	})
}

func TestSoManyImagesArePulledAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := fake.New()
		f.Faults.Add(fault.Rule{Method: "PullImage", Delay: time.Minute})
		waited := map[string]string{}
		var mu sync.Mutex
		m := New(Config{Client: f.Client().Images, Recorder: silent{}, MaxParallelPulls: 2,
			Waiting: func(_ *corev1.Pod, container, message string) {
				mu.Lock()
				defer mu.Unlock()
				waited[container] += message + "\n"
			}})
		start := time.Now()
		var calls sync.WaitGroup
		for _, image := range []string{"a:1", "b:1", "c:1"} {
			r := request("uid-1", image, corev1.PullAlways)
			r.Container.Name = image
			calls.Go(func() {
				if _, err := m.Ensure(t.Context(), r); err != nil {
					t.Error(err)
				}
			})
		}
		calls.Wait()
		if time.Since(start) != 2*time.Minute {
			t.Errorf("three pulls of a minute, two at a time, took %s", time.Since(start))
		}
		queued := 0
		for image, messages := range waited {
			if !strings.HasSuffix(messages, fmt.Sprintf("Pulling image %q\n", image)) {
				t.Errorf("%s ended with %q", image, messages)
			}
			if strings.HasPrefix(messages, fmt.Sprintf("Waiting to pull image %q", image)) {
				queued++
			}
		}
		if len(waited) != 3 || queued != 1 {
			t.Errorf("the containers waited for %q", waited)
		}
	})
}

func TestTheWaitForASlotEndsWithItsPod(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := fake.New()
		f.Faults.Add(fault.Rule{Method: "PullImage", Delay: time.Minute})
		m := New(Config{Client: f.Client().Images, Recorder: silent{}, MaxParallelPulls: 1})
		first := make(chan error, 1)
		go func() {
			_, err := m.Ensure(t.Context(), request("uid-1", "a:1", corev1.PullAlways))
			first <- err
		}()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := m.Ensure(ctx, request("uid-2", "b:1", corev1.PullAlways)); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		if err := <-first; err != nil || len(f.Calls("PullImage")) != 1 {
			t.Errorf("%v after %d pulls", err, len(f.Calls("PullImage")))
		}
	})
}

func TestPaceOfALongPull(t *testing.T) {
	start := time.Now()
	p := newPace(start)
	var states, events []int
	for second := 1; second <= 130; second++ {
		message := fmt.Sprint(second)
		if second > 20 {
			message = "the same"
		}
		state, event := p.due(message, start.Add(time.Duration(second)*time.Second))
		if state {
			states = append(states, second)
		}
		if event {
			events = append(events, second)
		}
	}
	if fmt.Sprint(states, events) != "[1 6 11 16 21] [30 60 120]" {
		t.Errorf("states %v, events %v", states, events)
	}
}

func TestAPullEndsWithItsLastWaiter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := fake.New()
		f.Faults.Add(fault.Rule{Method: "PullImage", Delay: time.Minute})
		m := manager(f)
		wait := func(timeout time.Duration) <-chan error {
			ended := make(chan error, 1)
			ctx, cancel := context.WithTimeout(t.Context(), timeout)
			go func() {
				defer cancel()
				_, err := m.Ensure(ctx, request("uid-1", "a:1", corev1.PullAlways))
				ended <- err
			}()
			return ended
		}
		short, long := wait(time.Second), wait(time.Hour)
		if err := <-short; !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the first: %v", err)
		}
		if err := <-long; err != nil {
			t.Errorf("the second lost its pull: %v", err)
		}
		only := wait(time.Second)
		if err := <-only; !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the third: %v", err)
		}
		if len(m.puller.inFlight) > 0 {
			t.Error("a pull that nobody waits for goes on")
		}
		if wait, err := m.failures.waiting(failureKey{"uid-1", "a:1", ""}); wait > 0 {
			t.Errorf("a cancelled pull is held against the image: %s, %v", wait, err)
		}
	})
}

// What one pod may pull with its secret, another may not pull without.
func TestPullsWithDifferentCredentialsAreNotShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := fake.New()
		f.Faults.Add(fault.Rule{Method: "PullImage", Delay: time.Minute})
		m := manager(f)
		var calls sync.WaitGroup
		for _, user := range []string{"", "u", "u", "v"} {
			r := request("uid-1", "registry.test/a:1", corev1.PullAlways)
			if user != "" {
				r.PullSecrets = []corev1.Secret{loginSecret(user)}
			}
			calls.Go(func() { _, _ = m.Ensure(t.Context(), r) })
		}
		calls.Wait()
		if got := len(f.Calls("PullImage")); got != 3 {
			t.Errorf("%d pulls, want 3", got)
		}
	})
}

// loginSecret is a pull secret for registry.test.
func loginSecret(user string) corev1.Secret {
	s := corev1.Secret{Type: corev1.SecretTypeDockercfg, Data: map[string][]byte{
		corev1.DockerConfigKey: []byte(`{"registry.test":{"username":"` + user + `","password":"s3cret"}}`),
	}}
	s.Namespace, s.Name, s.UID = "ns", user, types.UID("uid of "+user)
	return s
}

func TestEachCredentialIsTried(t *testing.T) {
	f := fake.New()
	f.Faults.Add(fault.Rule{Method: "PullImage", Times: 1, Code: codes.PermissionDenied})
	r := request("uid-1", "registry.test/team/a:1", corev1.PullAlways)
	r.PullSecrets = []corev1.Secret{{Type: corev1.SecretTypeDockercfg, Data: map[string][]byte{
		corev1.DockerConfigKey: []byte(`{"registry.test":{"username":"b"},"registry.test/team":{"username":"a"}}`),
	}}}
	if _, err := manager(f).Ensure(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	var users []string
	for _, c := range f.Calls("PullImage") {
		users = append(users, c.Request.(*runtimeapi.PullImageRequest).GetAuth().GetUsername())
	}
	if strings.Join(users, " ") != "a b" {
		t.Errorf("tried %q", users)
	}
}

func manager(f *fake.Runtime) *Manager {
	return New(Config{Client: f.Client().Images, Recorder: silent{}})
}

func request(uid types.UID, image string, policy corev1.PullPolicy) Request {
	pod := &corev1.Pod{}
	pod.UID = uid
	return Request{Pod: pod, Container: &corev1.Container{Name: "c", Image: image, ImagePullPolicy: policy}}
}

type silent struct{}

func (silent) Record(*corev1.Pod, string, string, string, string) {}
