// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package images

import (
	"errors"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
	corev1 "k8s.io/api/core/v1"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/berth-run/berth/agent/cri/fake"
	"github.com/berth-run/berth/agent/cri/fault"
	"github.com/berth-run/berth/agent/podruntime/images/pulled"
)

// anonymous picks pulls without a login.
func anonymous(request proto.Message) bool {
	return request.(*runtimeapi.PullImageRequest).GetAuth().GetUsername() == ""
}

// What came to the node with one pod's login is for others with it, or once they have
// proved themselves, whatever becomes of the agent.
func TestB079PrivateImagesArePrivateOnTheNodeToo(t *testing.T) {
	const image = "registry.test/private:1"
	f, dir := fake.New("preloaded:1"), t.TempDir()
	f.Faults.Add(fault.Rule{Method: "PullImage", Code: codes.PermissionDenied, Match: anonymous})
	for _, step := range []struct {
		name, image string
		policy      corev1.PullPolicy
		login       string
		reason      string
		pulls       int // so far
	}{
		{"the first has a login", image, corev1.PullIfNotPresent, "a", "", 1},
		{"it starts again", image, corev1.PullIfNotPresent, "a", "", 1},
		{"Never, with the login", image, corev1.PullNever, "a", "", 1},
		{"another without one", image, corev1.PullIfNotPresent, "", ErrImagePull, 2},
		{"Never, without one", image, corev1.PullNever, "", ErrImageNeverPull, 2},
		{"Never, with another login", image, corev1.PullNever, "b", ErrImageNeverPull, 2},
		{"another with a login of its own", image, corev1.PullIfNotPresent, "b", "", 3},
		{"Never, with what is proved by now", image, corev1.PullNever, "b", "", 3},
		{"by a digest of the repository", "registry.test/private@" + digest, corev1.PullNever, "", ErrImageNeverPull, 3},
		{"what an archive brought", "preloaded:1", corev1.PullNever, "", "", 3},
	} {
		var told messages
		m := New(Config{Client: f.Client().Images, Recorder: &told, Pulled: pulled.NewStore(dir)}) // an agent each time
		r := request("uid-1", step.image, step.policy)
		if step.login != "" {
			r.PullSecrets = []corev1.Secret{loginSecret(step.login)}
		}
		_, err := m.Ensure(t.Context(), r)
		e := &Error{}
		if errors.As(err, &e); e.Reason != step.reason {
			t.Errorf("%s: %v, want reason %q", step.name, err, step.reason)
		}
		if step.reason != "" && step.image == image && !strings.Contains(e.Message, "with credentials that this pod does not have") {
			t.Errorf("%s: %s", step.name, e.Message)
		}
		if got := len(f.Calls("PullImage")); got != step.pulls {
			t.Errorf("%s: %d pulls so far, want %d; told %q", step.name, got, step.pulls, told)
		}
	}
}

// The runtime may finish a pull whose answer is lost: that proves nothing.
func TestAPullWhoseAnswerIsLostFreesNoImage(t *testing.T) {
	f, dir := fake.New(), t.TempDir()
	f.Faults.Add(fault.Rule{Method: "PullImage", DropReply: true, Times: 1})
	r := request("uid-1", "registry.test/private:1", corev1.PullNever)
	with := request("uid-2", "registry.test/private:1", corev1.PullIfNotPresent)
	with.PullSecrets = []corev1.Secret{loginSecret("a")}
	ensure := func(r Request) string {
		_, err := New(Config{Client: f.Client().Images, Recorder: silent{}, Pulled: pulled.NewStore(dir)}).Ensure(t.Context(), r)
		e := &Error{}
		errors.As(err, &e)
		return e.Reason
	}
	if reason := ensure(with); reason != ErrImagePull {
		t.Errorf("the pull whose answer is lost: %q", reason)
	}
	if reason := ensure(r); reason != ErrImageNeverPull {
		t.Errorf("without a login: %q", reason)
	}
	f.Faults.Add(fault.Rule{Method: "PullImage", Code: codes.PermissionDenied, Match: anonymous})
	if reason := ensure(with); reason != "" {
		t.Errorf("with the login: %q", reason)
	}
	if reason := ensure(r); reason != ErrImageNeverPull {
		t.Errorf("without a login, after the proof: %q", reason)
	}
}

func TestPruneKeepsWhatTheNodeHas(t *testing.T) {
	f, dir := fake.New(), t.TempDir()
	f.Faults.Add(fault.Rule{Method: "PullImage", Code: codes.PermissionDenied, Match: anonymous})
	m := New(Config{Client: f.Client().Images, Recorder: silent{}, Pulled: pulled.NewStore(dir)})
	r := request("uid-1", "registry.test/private:1", corev1.PullIfNotPresent)
	r.PullSecrets = []corev1.Secret{loginSecret("a")}
	if _, err := m.Ensure(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if err := m.Prune(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.PullSecrets, r.Container.ImagePullPolicy = nil, corev1.PullNever
	if _, err := m.Ensure(t.Context(), r); err == nil {
		t.Error("the image is free for all")
	}
}
