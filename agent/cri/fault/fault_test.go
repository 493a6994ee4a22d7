// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package fault

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// outcome makes a call and says what came of it, in a word: made, lost (made, but
// failed) or a code.
func outcome(ctx context.Context, s *Script, method string, request proto.Message) string {
	made := false
	err := s.Around(ctx, "/runtime.v1.RuntimeService/"+method, request, func() error { made = true; return nil })
	switch {
	case made && err == nil:
		return "made"
	case made:
		return "lost"
	}
	return status.Code(err).String()
}

func TestScript(t *testing.T) {
	ofContainer := func(id string) func(proto.Message) bool {
		return func(m proto.Message) bool { return m.(*runtimeapi.StartContainerRequest).GetContainerId() == id }
	}
	for name, tc := range map[string]struct {
		rules []Rule
		want  string // of three calls to StartContainer, of containers 1, 2, 3
	}{
		"no rule":           {want: "made made made"},
		"another method":    {rules: []Rule{{Method: "StopContainer", Code: codes.Unknown}}, want: "made made made"},
		"every call":        {rules: []Rule{{Method: "StartContainer", Code: codes.Unknown}}, want: "Unknown Unknown Unknown"},
		"every method":      {rules: []Rule{{Code: codes.Unknown, Times: 2}}, want: "Unknown Unknown made"},
		"the second":        {rules: []Rule{{Method: "StartContainer", Skip: 1, Times: 1, Code: codes.Unavailable}}, want: "made Unavailable made"},
		"one container":     {rules: []Rule{{Method: "StartContainer", Match: ofContainer("2"), Code: codes.NotFound}}, want: "made NotFound made"},
		"a dropped reply":   {rules: []Rule{{Method: "StartContainer", Times: 1, DropReply: true}}, want: "lost made made"},
		"the first applies": {rules: []Rule{{Times: 1, Code: codes.Aborted}, {Times: 1, Code: codes.Unknown}}, want: "Aborted Unknown made"},
	} {
		s := &Script{}
		for _, r := range tc.rules {
			s.Add(r)
		}
		var got []string
		for _, id := range []string{"1", "2", "3"} {
			got = append(got, outcome(t.Context(), s, "StartContainer", &runtimeapi.StartContainerRequest{ContainerId: id}))
		}
		if strings.Join(got, " ") != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}

func TestScriptRemove(t *testing.T) {
	s := &Script{}
	remove := s.Add(Rule{Code: codes.Unknown})
	remove()
	remove()
	if got := outcome(t.Context(), s, "Version", nil); got != "made" {
		t.Error(got)
	}
}

func TestScriptDelaysAndHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &Script{}
		s.Add(Rule{Times: 1, Delay: time.Second})
		s.Add(Rule{Times: 1, Delay: time.Hour})
		s.Add(Rule{Times: 1, Hang: true})
		start := time.Now()
		if got := outcome(t.Context(), s, "Version", nil); got != "made" || time.Since(start) != time.Second {
			t.Errorf("delayed: %s after %s", got, time.Since(start))
		}
		for _, what := range []string{"delayed beyond the deadline", "hung"} {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			if got := outcome(ctx, s, "Version", nil); got != "DeadlineExceeded" {
				t.Errorf("%s: %s", what, got)
			}
			cancel()
		}
	})
}
