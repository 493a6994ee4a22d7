// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package images

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/codes"
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-run/berth/agent/cri/fake"
	"github.com/berth-run/berth/agent/cri/fault"
)

func failedWith(t *testing.T, m *Manager, r Request) *Error {
	t.Helper()
	_, err := m.Ensure(t.Context(), r)
	e := (*Error)(nil)
	if !errors.As(err, &e) {
		t.Fatalf("Ensure: %v", err)
	}
	return e
}

func TestFailedPullsBackOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := fake.New()
		m := manager(f)
		r := request("uid-1", "registry.test/a:1", corev1.PullIfNotPresent)
		f.Faults.Add(fault.Rule{Method: "PullImage", Code: codes.NotFound})
		for _, delay := range []time.Duration{10, 20, 40, 80, 160, 300, 300} {
			if e := failedWith(t, m, r); e.Reason != ErrImagePull || e.RetryAfter != delay*time.Second {
				t.Errorf("%s, to be tried after %s; want %ss", e, e.RetryAfter, delay)
			}
			time.Sleep(delay*time.Second - time.Second)
			e := failedWith(t, m, r)
			if e.Reason != ImagePullBackOff || e.RetryAfter != time.Second || e.Err != nil {
				t.Errorf("%+v, one second before it is due", e)
			}
			const want = `Back-off pulling image "registry.test/a:1": ErrImagePull: cannot pull image "registry.test/a:1": PullImage: failed by a fault rule`
			if e.Message != want {
				t.Errorf("the back-off says %q", e.Message)
			}
			time.Sleep(time.Second)
		}
	})
}

// Another login is tried at once, without a wait for the delay of the former; that
// one keeps its delay.
func TestAnotherLoginIsTriedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := fake.New()
		m := manager(f)
		f.Faults.Add(fault.Rule{Method: "PullImage", Code: codes.PermissionDenied, Times: 2})
		r := request("uid-1", "registry.test/a:1", corev1.PullIfNotPresent)
		if e := failedWith(t, m, r); e.Reason != ErrImagePull {
			t.Error(e)
		}
		stale := r
		stale.PullSecrets = []corev1.Secret{loginSecret("stale")}
		if e := failedWith(t, m, stale); e.Reason != ErrImagePull || !strings.Contains(e.Message, "with the pull secret ns/stale: PullImage: failed") {
			t.Error(e)
		}
		if e := failedWith(t, m, r); e.Reason != ImagePullBackOff {
			t.Error(e)
		}
		if pods := m.failures.pods(); fmt.Sprint(pods) != "[uid-1]" {
			t.Errorf("pods to wake: %v", pods)
		}
		good := r
		good.PullSecrets = []corev1.Secret{loginSecret("good")}
		if _, err := m.Ensure(t.Context(), good); err != nil {
			t.Error(err)
		}
		if pods := m.failures.pods(); len(pods) > 0 {
			t.Errorf("the image is there and still held against %v", pods)
		}
	})
}

func TestFailuresAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &failures{entries: map[failureKey]failure{}}
		f.add(failureKey{"uid-1", "a:1", ""}, &Error{})
		time.Sleep(forgetAfter)
		f.add(failureKey{"uid-2", "a:1", ""}, &Error{})
		if len(f.entries) != 1 {
			t.Errorf("entries: %v", f.entries)
		}
	})
}

func TestPullReason(t *testing.T) {
	said := func(texts ...string) error {
		var all attemptErrors
		for _, text := range texts {
			all = append(all, &attemptError{err: errors.New(text)})
		}
		return all
	}
	for name, tc := range map[string]struct {
		err  error
		want string
	}{
		"anything":              {said("not found"), ErrImagePull},
		"a registry that's off": {said("RegistryUnavailable: dial: refused"), RegistryUnavailable},
		"a wrong signature":     {said("SignatureValidationFailed"), SignatureValidationFailed},
		"named in passing":      {said("no RegistryUnavailable here"), ErrImagePull},
		"the last one counts":   {said("401", "RegistryUnavailable"), RegistryUnavailable},
		"no attempt":            {errors.New("RegistryUnavailable"), ErrImagePull},
	} {
		if got := pullReason(tc.err); got != tc.want {
			t.Errorf("%s: %s, want %s", name, got, tc.want)
		}
	}
}
