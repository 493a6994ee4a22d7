// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package tunnel

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-run/berth/internal/muxconn"
	nodepb "github.com/berth-run/berth/proto/berth/node/v1"
)

// seenAt has the agents of nodes that were heard of, all with the id of their name.
type seenAt map[string]time.Time

func (s seenAt) Agent(node string) (string, bool) {
	_, ok := s[node]
	return node, ok
}

func (s seenAt) LastSeen(node string) (time.Time, bool) {
	at, ok := s[node]
	return at, ok
}

type nodeServer struct {
	nodepb.UnimplementedNodeServer
	tunnels *Tunnels
}

func (s nodeServer) Tunnel(stream grpc.BidiStreamingServer[nodepb.Frame, nodepb.Frame]) error {
	return s.tunnels.Tunnel(stream)
}

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is a server with tunnels. yamux shares timers between its sessions, which
// synctest does not allow: these tests run in real time.
type world struct {
	t       *testing.T
	tunnels *Tunnels
	client  nodepb.NodeClient
}

func newWorld(t *testing.T, seen seenAt) *world {
	t.Helper()
	tunnels := New(seen, slog.New(slog.DiscardHandler))
	listener := bufconn.Listen(64 << 10)
	server := grpc.NewServer()
	nodepb.RegisterNodeServer(server, nodeServer{tunnels: tunnels})
	go func() { _ = server.Serve(listener) }()
	conn, err := grpc.NewClient("passthrough:///server",
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return listener.DialContext(ctx) }),
		grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		conn.Close()
		server.Stop()
	})
	return &world{t: t, tunnels: tunnels, client: nodepb.NewNodeClient(conn)}
}

// agent opens the tunnel of a node's agent and answers with h. It returns a channel
// that gets why the tunnel ended.
func (w *world) agent(node string, h http.HandlerFunc) <-chan error {
	w.t.Helper()
	return w.agentOf(node, node, h)
}

// agentOf opens the tunnel of the agent of that id.
func (w *world) agentOf(node, id string, h http.HandlerFunc) <-chan error {
	w.t.Helper()
	_, opened := w.tunnels.tunnel(node)
	ctx, cancel := context.WithCancel(context.Background())
	stream, err := w.client.Tunnel(metadata.AppendToOutgoingContext(ctx, muxconn.NodeKey, node, muxconn.NodeIDKey, id))
	if err != nil {
		w.t.Fatal(err)
	}
	session, err := muxconn.Server(stream, slog.New(slog.DiscardHandler))
	if err != nil {
		w.t.Fatal(err)
	}
	ended := make(chan error, 1)
	server := &http.Server{Handler: h}
	go func() { ended <- server.Serve(session) }()
	w.t.Cleanup(func() {
		cancel()
		session.Close()
		server.Close()
	})
	<-opened
	return ended
}

var pod = &corev1.Pod{
	ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "p", UID: "u"},
	Spec:       corev1.PodSpec{NodeName: "n1", Containers: []corev1.Container{{Name: "c"}}},
}

func TestLogsComeThroughTheTunnel(t *testing.T) {
	w := newWorld(t, nil)
	w.agent("n1", func(rw http.ResponseWriter, r *http.Request) { fmt.Fprint(rw, r.URL.String()) })
	tail, since, limit := int64(5), int64(60), int64(1000)
	at := metav1.Unix(0, 0)
	pod := pod.DeepCopy()
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "c", RestartCount: 3, LastTerminationState: terminated}}
	log, err := NewLogs(w.tunnels).Open(t.Context(), pod, &corev1.PodLogOptions{
		Follow: true, Previous: true, Timestamps: true, TailLines: &tail, SinceSeconds: &since, LimitBytes: &limit, SinceTime: &at,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	text, err := io.ReadAll(log)
	want := "/v1/pods/default/p/u/log/c?attempt=2&follow=true&limitBytes=1000" +
		"&sinceSeconds=60&sinceTime=1970-01-01T00%3A00%3A00Z&tailLines=5&timestamps=true"
	if err != nil || string(text) != want {
		t.Errorf("asked for %s, %v; want %s", text, err, want)
	}
}

func TestLargeLogsComeWhole(t *testing.T) {
	w := newWorld(t, nil)
	const size = 20 << 20
	w.agent("n1", func(rw http.ResponseWriter, _ *http.Request) {
		block := make([]byte, 32<<10)
		for range size / len(block) {
			if _, err := rw.Write(block); err != nil {
				return
			}
		}
	})
	log, err := NewLogs(w.tunnels).Open(t.Context(), pod, &corev1.PodLogOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	if n, err := io.Copy(io.Discard, log); n != size || err != nil {
		t.Errorf("%d bytes, %v", n, err)
	}
}

// The agent sees that nobody reads any more, and the tunnel stays open.
func TestClosingALogEndsItsRequest(t *testing.T) {
	w := newWorld(t, nil)
	gone := make(chan struct{})
	w.agent("n1", func(rw http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(rw).Flush()
		<-r.Context().Done()
		close(gone)
	})
	log, err := NewLogs(w.tunnels).Open(t.Context(), pod, &corev1.PodLogOptions{Follow: true})
	if err != nil {
		t.Fatal(err)
	}
	log.Close()
	<-gone
	if conn, err := w.tunnels.Dial(t.Context(), "n1"); err != nil {
		t.Error(err)
	} else {
		conn.Close()
	}
}

func TestAbsentAgentIsAnsweredSoon(t *testing.T) {
	silent := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	for _, test := range []struct {
		name, node, want string
	}{
		{"never seen", "n1", "has not been since the server started"},
		{"gone", "n2", "Z, 1h0m"},
		{"does not answer", "n3", "last heard of at"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			hourAgo := time.Now().Add(-time.Hour)
			w := newWorld(t, seenAt{"n2": hourAgo, "n3": hourAgo})
			w.agent("n3", silent)
			p := pod.DeepCopy()
			p.Spec.NodeName = test.node
			began := time.Now()
			_, err := NewLogs(w.tunnels).Open(t.Context(), p, &corev1.PodLogOptions{})
			if !apierrors.IsServiceUnavailable(err) || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), test.node) {
				t.Errorf("%v, want ServiceUnavailable with %q", err, test.want)
			}
			if took := time.Since(began); took > 2*time.Second {
				t.Errorf("answered after %v", took)
			}
		})
	}
}

func TestReturningAgentIsWaitedFor(t *testing.T) {
	w := newWorld(t, nil)
	dialled := make(chan error, 1)
	go func() {
		conn, err := w.tunnels.Dial(context.Background(), "n1")
		if err == nil {
			conn.Close()
		}
		dialled <- err
	}()
	time.Sleep(500 * time.Millisecond)
	w.agent("n1", nil)
	if err := <-dialled; err != nil {
		t.Error(err)
	}
}

func answer(text string) http.HandlerFunc {
	return func(rw http.ResponseWriter, _ *http.Request) { fmt.Fprint(rw, text) }
}

// log reads the log of pod.
func (w *world) log() string {
	w.t.Helper()
	log, err := NewLogs(w.tunnels).Open(w.t.Context(), pod, &corev1.PodLogOptions{})
	if err != nil {
		w.t.Fatal(err)
	}
	defer log.Close()
	text, _ := io.ReadAll(log)
	return string(text)
}

func TestNewestTunnelTakesOver(t *testing.T) {
	w := newWorld(t, nil)
	ended := w.agent("n1", answer("older"))
	w.agent("n1", answer("newer"))
	if err := <-ended; status.Code(err) != codes.Aborted {
		t.Errorf("the older tunnel ends with %v", err)
	}
	if text := w.log(); text != "newer" {
		t.Errorf("answered by %s", text)
	}
}

// Whichever agent of the name opens its tunnel last, the one with the session is
// asked.
func TestTunnelOfAnotherAgentTakesNothingOver(t *testing.T) {
	w := newWorld(t, seenAt{"n1": time.Now()})
	w.agentOf("n1", "early", answer("early twin"))
	w.agent("n1", answer("own"))
	ended := w.agentOf("n1", "late", answer("late twin"))
	if text := w.log(); text != "own" {
		t.Errorf("answered by the %s", text)
	}
	select {
	case err := <-ended:
		t.Errorf("the twin's tunnel ends with %v", err)
	default:
	}
}

func TestTunnelNamesItsNode(t *testing.T) {
	w := newWorld(t, nil)
	stream, err := w.client.Tunnel(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := stream.Recv(); status.Code(err) != codes.InvalidArgument {
		t.Errorf("%v, want InvalidArgument", err)
	}
}
