// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-run/berth/api"
	"github.com/berth-run/berth/cli/wait"
	apipb "github.com/berth-run/berth/proto/berth/api/v1"
	corepb "github.com/berth-run/berth/proto/berth/core/v1"
)

// playedPods answers each List of a pod and each Watch with the next of a script. What comes
// after the last Watch says nothing until the client goes.
type playedPods struct {
	apipb.UnimplementedPodsServer
	script
	// version is that of the last List; a Watch must go on from there.
	version int
}

// script has a *corev1.Pod, nil or an error for each List, and for each Watch its
// changes, how the server says that it ends, or the error that it ends with.
type script struct {
	looks   []any
	watches [][]any
}

// change is an event of a script.
type change struct {
	kind string
	pod  *corev1.Pod
}

func (p *playedPods) List(context.Context, *apipb.ListRequest) (*apipb.PodListObject, error) {
	next := p.looks[0]
	p.looks = p.looks[1:]
	if err, ok := next.(error); ok {
		return nil, err
	}
	p.version++
	list := &corepb.PodList{Metadata: &corepb.ListMeta{ResourceVersion: fmt.Sprint(p.version)}}
	if pod, ok := next.(*corev1.Pod); ok {
		m := &corepb.Pod{}
		if err := api.FromObject(pod, m); err != nil {
			return nil, err
		}
		list.Items = append(list.Items, m)
	}
	return &apipb.PodListObject{Object: &apipb.PodListObject_List{List: list}}, nil
}

func (p *playedPods) Watch(request *apipb.WatchRequest, stream grpc.ServerStreamingServer[apipb.PodWatchEvent]) error {
	if v := request.GetResourceVersion(); v != "" && v != fmt.Sprint(p.version) {
		return status.Errorf(codes.InvalidArgument, "watched from %s, and last read at %d", v, p.version)
	}
	if len(p.watches) == 0 {
		<-stream.Context().Done()
		return stream.Context().Err()
	}
	next := p.watches[0]
	p.watches = p.watches[1:]
	for _, step := range next {
		if err := play(step, stream); err != nil {
			return err
		}
	}
	return nil
}

func play(step any, stream grpc.ServerStreamingServer[apipb.PodWatchEvent]) error {
	switch s := step.(type) {
	case string:
		failure := &apipb.PodWatchEvent_Status{Status: &corepb.Status{Message: s}}
		return stream.Send(&apipb.PodWatchEvent{Type: "ERROR", Object: failure})
	case change:
		m := &corepb.Pod{}
		if err := api.FromObject(s.pod, m); err != nil {
			return err
		}
		return stream.Send(&apipb.PodWatchEvent{Type: s.kind, Object: &apipb.PodWatchEvent_Pod{Pod: m}})
	}
	return step.(error)
}

// serve returns a client of the script.
func (p *playedPods) serve(t *testing.T) *client {
	t.Helper()
	listener := bufconn.Listen(1 << 16)
	server := grpc.NewServer()
	apipb.RegisterPodsServer(server, p)
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	conn, err := grpc.NewClient("passthrough:///played", grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return listener.DialContext(ctx) }))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		conn.Close()
		server.Stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return &client{conn}
}

// played is a pod of a script.
func played(uid types.UID, change ...func(*corev1.Pod)) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: "default", UID: uid}}
	for _, f := range change {
		f(p)
	}
	return p
}

func ready(p *corev1.Pod) {
	p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
}

func succeeded(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded }

// TestB089AWaitIsForOnePodAndOutlivesItsWatch: whatever becomes of watches and server,
// the wait is for the pod that had the name when it began, and for no other.
func TestB089AWaitIsForOnePodAndOutlivesItsWatch(t *testing.T) {
	unavailable := status.Error(codes.Unavailable, "the server is shutting down")
	for name, tc := range map[string]struct {
		goal string
		pods script
		code int
		text string
	}{
		"ready at once": {"ready", script{looks: []any{played("1", ready)}}, 0, ""},
		"ready later":   {"ready", script{[]any{played("1")}, [][]any{{change{"MODIFIED", played("1", ready)}}}}, 0, ""},
		"succeeds":      {"ready", script{[]any{played("1")}, [][]any{{change{"MODIFIED", played("1", succeeded)}}}}, exitCompleted, "it has succeeded"},
		"deleted":       {"ready", script{[]any{played("1")}, [][]any{{change{"DELETED", played("1")}}}}, exitGone, "it has been deleted"},
		"replaced":      {"ready", script{[]any{played("1")}, [][]any{{change{"DELETED", played("1", ready)}, change{"ADDED", played("2", ready)}}}}, exitGone, "it has been deleted"},
		"never shown that it was replaced": {"ready",
			script{[]any{played("1")}, [][]any{{change{"ADDED", played("2", ready)}}}}, exitGone, "it has been deleted"},
		"replaced between watches": {"ready",
			script{[]any{played("1"), played("2", ready)}, [][]any{{unavailable}}}, exitGone, "it has been deleted"},
		"deleted between watches": {"ready", script{[]any{played("1"), nil}, [][]any{{unavailable}}}, exitGone, "it has been deleted"},
		"version too old":         {"ready", script{[]any{played("1"), played("1", ready)}, [][]any{{"too old resource version"}}}, 0, ""},
		"watch ends":              {"ready", script{[]any{played("1"), played("1")}, [][]any{{}, {change{"MODIFIED", played("1", ready)}}}}, 0, ""},
		"server away, then back":  {"ready", script{[]any{played("1"), unavailable, unavailable, played("1", ready)}, [][]any{{unavailable}, {unavailable}, {unavailable}}}, 0, ""},
		"nothing happens":         {"ready", script{looks: []any{played("1")}}, exitTimeout, "the time is over"},
		"refused":                 {"ready", script{[]any{played("1")}, [][]any{{status.Error(codes.PermissionDenied, "no")}}}, exitOther, "no"},
		"not there":               {"ready", script{looks: []any{nil}}, exitOther, `pods "p" not found`},

		"delete, not there": {"delete", script{looks: []any{nil}}, 0, ""},
		"delete":            {"delete", script{[]any{played("1")}, [][]any{{change{"DELETED", played("1")}}}}, 0, ""},
		"delete, replaced":  {"delete", script{[]any{played("1"), played("2")}, [][]any{{unavailable}}}, 0, ""},
		"create":            {"create", script{[]any{nil}, [][]any{{unavailable}, {change{"ADDED", played("1")}}}}, 0, ""},
		"create, never":     {"create", script{looks: []any{nil}}, exitTimeout, "it is not there"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				goals, err := parseGoals([]string{tc.goal})
				if err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
				defer cancel()
				w := &waiter{client: (&playedPods{script: tc.pods}).serve(t), goals: goals, report: func(named, wait.Verdict) {}}
				err = w.all(ctx, []chosen{{named: named{api.Pods, "p"}, namespace: "default"}})
				if code := ExitCode(err); code != tc.code {
					t.Errorf("exit code %d, want %d: %v", code, tc.code, err)
				}
				if err != nil && !strings.Contains(err.Error(), tc.text) {
					t.Errorf("%v; want %q", err, tc.text)
				}
			})
		})
	}
}

// TestB089TheFirstThatIsOutOfReachEndsAWait for several pods.
func TestB089TheFirstThatIsOutOfReachEndsAWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pods := &playedPods{}
		goals, err := parseGoals([]string{"ready"})
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		w := &waiter{client: pods.serve(t), goals: goals, report: func(named, wait.Verdict) {}}
		err = w.all(ctx, []chosen{
			{named{api.Pods, "waits"}, "default", at{played("1"), "0"}},
			{named{api.Pods, "done"}, "default", at{played("2", succeeded), "0"}},
		})
		if ExitCode(err) != exitCompleted || time.Since(began) > time.Minute {
			t.Errorf("after %s: %v", time.Since(began), err)
		}
	})
}
