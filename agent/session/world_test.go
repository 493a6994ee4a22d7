// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package session

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/test/bufconn"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-run/berth/agent/objects"
	"github.com/berth-run/berth/agent/podtypes"
	"github.com/berth-run/berth/api"
	corepb "github.com/berth-run/berth/proto/berth/core/v1"
	nodepb "github.com/berth-run/berth/proto/berth/node/v1"
)

// fakeServer hands each session to the test.
type fakeServer struct {
	nodepb.UnimplementedNodeServer
	sessions chan *serverEnd
}

// serverEnd is the server's end of a session.
type serverEnd struct {
	t      *testing.T
	stream grpc.BidiStreamingServer[nodepb.AgentMessage, nodepb.ServerMessage]
	end    chan error
}

func (s *fakeServer) Session(stream grpc.BidiStreamingServer[nodepb.AgentMessage, nodepb.ServerMessage]) error {
	end := &serverEnd{stream: stream, end: make(chan error, 1)}
	select {
	case s.sessions <- end:
	case <-stream.Context().Done():
		return nil
	}
	select {
	case err := <-end.end:
		return err
	case <-stream.Context().Done():
		return nil
	}
}

func (e *serverEnd) recv() *nodepb.AgentMessage {
	e.t.Helper()
	m, err := e.stream.Recv()
	if err != nil {
		e.t.Fatal(err)
	}
	return m
}

func (e *serverEnd) send(m *nodepb.ServerMessage) {
	e.t.Helper()
	if err := e.stream.Send(m); err != nil {
		e.t.Fatal(err)
	}
}

// greet reads Hello, answers as that store, and returns Hello and the inventory.
func (e *serverEnd) greet(storeID string) (*nodepb.Hello, []*nodepb.ObjectKey) {
	e.t.Helper()
	hello := e.recv().GetHello()
	e.send(&nodepb.ServerMessage{Message: &nodepb.ServerMessage_Welcome{Welcome: &nodepb.Welcome{
		StoreId: storeID, Node: hello.GetNode(),
	}}})
	var keys []*nodepb.ObjectKey
	for {
		inventory := e.recv().GetInventory()
		keys = append(keys, inventory.GetObjects()...)
		if inventory.GetDone() {
			return hello, keys
		}
	}
}

func (e *serverEnd) synced() {
	e.send(&nodepb.ServerMessage{Message: &nodepb.ServerMessage_Synced{Synced: &nodepb.Synced{}}})
}

func (e *serverEnd) pods(op nodepb.PodUpdate_Op, names ...string) {
	e.t.Helper()
	update := &nodepb.PodUpdate{Op: op, Source: "server"}
	for _, name := range names {
		m := &corepb.Pod{}
		if err := api.FromObject(pod(name), m); err != nil {
			e.t.Fatal(err)
		}
		update.Pods = append(update.Pods, m)
	}
	e.send(&nodepb.ServerMessage{Message: &nodepb.ServerMessage_PodUpdate{PodUpdate: update}})
}

func (e *serverEnd) secret(name string) {
	e.t.Helper()
	m := &corepb.Secret{}
	if err := api.FromObject(&corev1.Secret{ObjectMeta: meta(name)}, m); err != nil {
		e.t.Fatal(err)
	}
	e.objects(&nodepb.Objects{Secrets: []*corepb.Secret{m}})
}

func (e *serverEnd) objects(o *nodepb.Objects) {
	e.send(&nodepb.ServerMessage{Message: &nodepb.ServerMessage_Objects{Objects: o}})
}

func meta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID("uid-" + name), ResourceVersion: "7"}
}

func pod(name string) *corev1.Pod { return &corev1.Pod{ObjectMeta: meta(name)} }

// fakeNode is a NodeSource.
type fakeNode struct {
	mu      sync.Mutex
	ready   corev1.ConditionStatus
	changed chan struct{}
}

func (n *fakeNode) Changed() <-chan struct{} { return n.changed }

func (n *fakeNode) Registration() *corev1.Node {
	n.mu.Lock()
	defer n.mu.Unlock()
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: "n1"},
		Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{{
			Type: corev1.NodeReady, Status: n.ready, LastHeartbeatTime: metav1.Now(),
		}}},
	}
}

func (n *fakeNode) set(ready corev1.ConditionStatus) {
	n.mu.Lock()
	n.ready = ready
	n.mu.Unlock()
	n.changed <- struct{}{}
}

// fakePods is a mux that holds fixed pods.
type fakePods []*corev1.Pod

func (p fakePods) Pods(source string) []*corev1.Pod {
	if source != podtypes.ServerSource {
		return nil
	}
	return p
}

// fakeStatuses is a status manager with one report per pod.
type fakeStatuses struct {
	changed chan struct{}

	mu      sync.Mutex
	reports map[types.UID]podtypes.StatusReport
	out     map[types.UID]bool
}

func newFakeStatuses() *fakeStatuses {
	return &fakeStatuses{
		changed: make(chan struct{}, 1),
		reports: map[types.UID]podtypes.StatusReport{},
		out:     map[types.UID]bool{},
	}
}

func (s *fakeStatuses) set(r podtypes.StatusReport) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reports[r.UID] = r
	delete(s.out, r.UID)
	s.signal()
}

func (s *fakeStatuses) signal() {
	select {
	case s.changed <- struct{}{}:
	default:
	}
}

func (s *fakeStatuses) Changed() <-chan struct{} { return s.changed }

func (s *fakeStatuses) Dirty() []podtypes.StatusReport {
	s.mu.Lock()
	defer s.mu.Unlock()
	var dirty []podtypes.StatusReport
	for uid, r := range s.reports {
		if !s.out[uid] {
			s.out[uid] = true
			dirty = append(dirty, r)
		}
	}
	return dirty
}

func (s *fakeStatuses) Ack(uid types.UID, version uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.reports[uid].Version == version {
		delete(s.reports, uid)
	}
}

func (s *fakeStatuses) Resend() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.out)
	s.signal()
}

func (s *fakeStatuses) pending() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.reports)
}

// world is a Client and the servers that it finds, in a synctest bubble.
type world struct {
	t        *testing.T
	server   *fakeServer
	client   *Client
	node     *fakeNode
	objects  *objects.Cache
	statuses *fakeStatuses
	events   chan *corev1.Event
	updates  chan podtypes.PodUpdate
	file     string
	// logged is to be read while the client waits.
	logged strings.Builder

	// frozen, once closed, swallows what the client writes.
	frozen chan struct{}

	mu   sync.Mutex
	down bool
}

func newWorld(t *testing.T, held ...*corev1.Pod) *world {
	t.Helper()
	w := &world{
		t:        t,
		server:   &fakeServer{sessions: make(chan *serverEnd)},
		node:     &fakeNode{ready: corev1.ConditionTrue, changed: make(chan struct{}, 1)},
		objects:  objects.New(nil),
		statuses: newFakeStatuses(),
		events:   make(chan *corev1.Event, 10),
		updates:  make(chan podtypes.PodUpdate, 100),
		file:     filepath.Join(t.TempDir(), "store"),
		frozen:   make(chan struct{}),
	}
	listener := bufconn.Listen(64 << 10)
	server := grpc.NewServer(grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: 5 * time.Second, PermitWithoutStream: true}))
	nodepb.RegisterNodeServer(server, w.server)
	go func() { _ = server.Serve(listener) }()
	w.client = New(Config{
		Target: "passthrough:///server",
		DialOptions: []grpc.DialOption{
			grpc.WithTransportCredentials(insecure.NewCredentials()),
			grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return w.dial(ctx, listener) }),
		},
		Node: w.node, NodeID: "1111aaaa", Pods: fakePods(held), Objects: w.objects, Statuses: w.statuses,
		Events: w.events, Updates: w.updates, StoreFile: w.file,
		Logger: slog.New(slog.NewTextHandler(io.MultiWriter(t.Output(), &w.logged), nil)),
	})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- w.client.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		server.Stop()
	})
	return w
}

func (w *world) dial(ctx context.Context, l *bufconn.Listener) (net.Conn, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.down {
		return nil, errors.New("connection refused")
	}
	conn, err := l.DialContext(ctx)
	if err != nil {
		return nil, err
	}
	return &gatedConn{conn, w.frozen}, nil
}

// setDown makes dialling fail, or work again.
func (w *world) setDown(down bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.down = down
}

// gatedConn is a connection that loses everything once it is frozen, as if the
// machine at the far end had died.
type gatedConn struct {
	net.Conn
	frozen <-chan struct{}
}

func (c *gatedConn) Write(p []byte) (int, error) {
	select {
	case <-c.frozen:
		return len(p), nil
	default:
		return c.Conn.Write(p)
	}
}

// session waits for the client's next session.
func (w *world) session() *serverEnd {
	w.t.Helper()
	end := <-w.server.sessions
	end.t = w.t
	return end
}

// delivered returns the next update as a line such as "ADD a b".
func (w *world) delivered() string {
	w.t.Helper()
	var u podtypes.PodUpdate
	select {
	case u = <-w.updates:
	case <-time.After(time.Hour):
		w.t.Fatal("nothing is delivered")
	}
	if u.Source != podtypes.ServerSource {
		w.t.Errorf("source %q", u.Source)
	}
	line := u.Op.String()
	for _, p := range u.Pods {
		line += " " + p.Name
	}
	return line
}

func (w *world) expect(want ...string) {
	w.t.Helper()
	for _, line := range want {
		if got := w.delivered(); got != line {
			w.t.Fatalf("delivered %s, want %s", got, line)
		}
	}
}

// nothing fails if an update comes within a minute.
func (w *world) nothing() {
	w.t.Helper()
	select {
	case u := <-w.updates:
		w.t.Fatalf("delivered %v", u)
	case <-time.After(time.Minute):
	}
}

func (w *world) storeFile() string {
	data, err := os.ReadFile(w.file)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		w.t.Fatal(err)
	}
	return string(data)
}
