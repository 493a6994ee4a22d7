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
)

func TestParseReference(t *testing.T) {
	for image, want := range map[string]reference{
		"nginx":                       {"nginx:latest", "index.docker.io", "library/nginx"},
		"nginx:1.14.2":                {"nginx:1.14.2", "index.docker.io", "library/nginx"},
		"localhost:5000/app":          {"localhost:5000/app:latest", "localhost:5000", "app"},
		"registry.test/a/b:latest":    {"registry.test/a/b:latest", "registry.test", "a/b"},
		"registry.test/a@" + digest:   {"registry.test/a@" + digest, "registry.test", "a"},
		"registry.test/a:1@" + digest: {"registry.test/a:1@" + digest, "registry.test", "a"},
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

func TestCredentialsFor(t *testing.T) {
	dockerConfig := func(json string) corev1.Secret {
		return corev1.Secret{Type: corev1.SecretTypeDockerConfigJson, Data: map[string][]byte{corev1.DockerConfigJsonKey: []byte(json)}}
	}
	dockercfg := corev1.Secret{Type: corev1.SecretTypeDockercfg, Data: map[string][]byte{
		corev1.DockerConfigKey: []byte(`{"https://index.docker.io/v1/":{"auth":"dXNlcjpwOnc="}}`), // user:p:w
	}}
	many := dockerConfig(`{"auths":{
		"registry.test":{"username":"all","password":"x"},
		"registry.test/team":{"username":"team","password":"x"},
		"registry.test/teammate":{"username":"mate","password":"x"},
		"*.wild.test":{"username":"wild","password":"x"},
		"ports.test:5000":{"username":"port","password":"x"}}}`)
	for name, tc := range map[string]struct {
		image   string
		secrets []corev1.Secret
		want    []string // user:password
		err     string
	}{
		"none":                      {image: "registry.test/a"},
		"another registry":          {image: "other.test/a", secrets: []corev1.Secret{many}},
		"the most specific first":   {image: "registry.test/team/a", secrets: []corev1.Secret{many}, want: []string{"team:x", "all:x"}},
		"a wildcard":                {image: "a.wild.test/a", secrets: []corev1.Secret{many}, want: []string{"wild:x"}},
		"a wildcard is no dot":      {image: "a.b.wild.test/a", secrets: []corev1.Secret{many}},
		"a port":                    {image: "ports.test:5000/a", secrets: []corev1.Secret{many}, want: []string{"port:x"}},
		"another port":              {image: "ports.test:5001/a", secrets: []corev1.Secret{many}},
		"dockercfg, for Docker Hub": {image: "nginx", secrets: []corev1.Secret{many, dockercfg}, want: []string{"user:p:w"}},
		"one that cannot be read":   {image: "nginx", secrets: []corev1.Secret{dockerConfig(`{"auths": "s3cret"`), dockercfg}, want: []string{"user:p:w"}, err: "not a registry configuration"},
		"one of another type":       {image: "nginx", secrets: []corev1.Secret{{Type: corev1.SecretTypeOpaque}}, err: `"Opaque"`},
		"auth that is not base64":   {image: "registry.test/a", secrets: []corev1.Secret{dockerConfig(`{"auths":{"registry.test":{"auth":"s3cret!"}}}`)}, err: "base64"},
		"auth without a separator":  {image: "registry.test/a", secrets: []corev1.Secret{dockerConfig(`{"auths":{"registry.test":{"auth":"czNjcmV0"}}}`)}, err: "user:password"},
	} {
		ref, err := parseReference(tc.image)
		if err != nil {
			t.Fatal(err)
		}
		auths, err := credentialsFor(ref, tc.secrets)
		var got []string
		for _, a := range auths {
			got = append(got, a.GetUsername()+":"+a.GetPassword())
		}
		if strings.Join(got, " ") != strings.Join(tc.want, " ") {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
		if tc.err == "" && err != nil || tc.err != "" && (err == nil || !strings.Contains(err.Error(), tc.err)) {
			t.Errorf("%s: error %v, want %q", name, err, tc.err)
		}
		if err != nil && strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: the error tells the secret: %v", name, err)
		}
	}
}

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
		if wait, err := m.failures.waiting(failureKey{"uid-1", "a:1"}); wait > 0 {
			t.Errorf("a cancelled pull is held against the image: %s, %v", wait, err)
		}
	})
}

// What one pod may pull with its secret, another may not pull without.
func TestPullsWithDifferentCredentialsAreNotShared(t *testing.T) {
	auth := []*runtimeapi.AuthConfig{{Username: "u", Password: "p"}}
	if pullKey("a:1", nil) == pullKey("a:1", auth) {
		t.Error("the same key")
	}
	if strings.Contains(pullKey("a:1", auth), "p\"") {
		t.Error("the key tells the password")
	}
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

func TestFailuresAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &failures{entries: map[failureKey]failure{}}
		f.add(failureKey{"uid-1", "a:1"}, errors.New("no"))
		time.Sleep(forgetAfter)
		f.add(failureKey{"uid-2", "a:1"}, errors.New("no"))
		if len(f.entries) != 1 {
			t.Errorf("entries: %v", f.entries)
		}
	})
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
