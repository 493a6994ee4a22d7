// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package session tests both ends of the node protocol together: the server's
// dispatch over a real store, the agent's session into a real mux.
package session

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"path/filepath"
	"sync"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/test/bufconn"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-run/berth/agent/config"
	"github.com/berth-run/berth/agent/objects"
	"github.com/berth-run/berth/agent/podtypes"
	"github.com/berth-run/berth/agent/session"
	"github.com/berth-run/berth/agent/status"
	"github.com/berth-run/berth/api"
	nodepb "github.com/berth-run/berth/proto/berth/node/v1"
	"github.com/berth-run/berth/server/dispatch"
	"github.com/berth-run/berth/server/events"
	"github.com/berth-run/berth/server/nodes"
	"github.com/berth-run/berth/server/registry"
	"github.com/berth-run/berth/server/tunnel"
	"github.com/berth-run/berth/store"
	"github.com/berth-run/berth/store/bolt"
)

var discard = slog.New(slog.DiscardHandler)

// server is a berth server as far as agents see it. It can be stopped, and
// started again over the same store.
type server struct {
	t        testing.TB
	store    store.Store
	registry *registry.Registry
	nodes    *nodes.Nodes
	tunnels  *tunnel.Tunnels

	mu       sync.Mutex
	listener *bufconn.Listener
	stop     func()
	// cutAfter, unless 0, bounds the bytes after which a connection breaks.
	cutAfter int
}

func newServer(t testing.TB) *server {
	t.Helper()
	db, err := bolt.Open(filepath.Join(t.TempDir(), "berth.db"), bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := &server{t: t, store: db, registry: registry.New(db, registry.Options{})}
	if err := s.registry.EnsureDefaults(context.Background()); err != nil {
		t.Fatal(err)
	}
	s.start()
	t.Cleanup(func() {
		s.halt()
		db.Close()
	})
	return s
}

func (s *server) start() {
	s.t.Helper()
	known, err := nodes.New(s.registry, nodes.Options{})
	if err != nil {
		s.t.Fatal(err)
	}
	s.nodes, s.tunnels = known, tunnel.New(known, discard)
	d := dispatch.New(s.registry, known, dispatch.Options{StoreID: s.store.ID(), Events: events.New(s.registry, events.Options{})})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = d.Run(ctx)
	}()
	g := grpc.NewServer(dispatch.ServerOptions()...)
	nodepb.RegisterNodeServer(g, d.Service(s.tunnels, nil))
	listener := bufconn.Listen(64 << 10)
	go func() { _ = g.Serve(listener) }()

	s.mu.Lock()
	defer s.mu.Unlock()
	s.listener = listener
	s.stop = func() {
		g.Stop()
		cancel()
		<-ended
	}
}

// halt stops the server; its store stays.
func (s *server) halt() {
	s.mu.Lock()
	stop := s.stop
	s.listener, s.stop = nil, nil
	s.mu.Unlock()
	if stop != nil {
		stop()
	}
}

func (s *server) dial(ctx context.Context, _ string) (net.Conn, error) {
	s.mu.Lock()
	listener, cutAfter := s.listener, s.cutAfter
	s.mu.Unlock()
	if listener == nil {
		return nil, errors.New("connection refused")
	}
	conn, err := listener.DialContext(ctx)
	if err != nil || cutAfter == 0 {
		return conn, err
	}
	return &fragileConn{Conn: conn, left: 1 + rand.IntN(cutAfter)}, nil
}

func (s *server) dialOptions() []grpc.DialOption {
	return []grpc.DialOption{
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(s.dial),
	}
}

func (s *server) setCutAfter(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cutAfter = n
}

// fragileConn breaks after a number of bytes that were read.
type fragileConn struct {
	net.Conn
	left int
}

func (c *fragileConn) Read(p []byte) (int, error) {
	if c.left <= 0 {
		c.Close()
		return 0, errors.New("connection reset")
	}
	n, err := c.Conn.Read(p[:min(len(p), c.left)])
	c.left -= n
	return n, err
}

func (s *server) create(k *api.Kind, obj api.Object) api.Object {
	s.t.Helper()
	created, _, err := s.registry.Create(context.Background(), k, obj, registry.WriteOptions{})
	if err != nil {
		s.t.Fatal(err)
	}
	return created
}

func (s *server) createPod(name string) *corev1.Pod {
	s.t.Helper()
	return s.create(api.Pods, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
		Spec:       corev1.PodSpec{NodeName: "n1", Containers: []corev1.Container{{Name: "c", Image: "i"}}},
	}).(*corev1.Pod)
}

func (s *server) deletePod(name string, grace int64) {
	s.t.Helper()
	if _, err := s.registry.Delete(context.Background(), api.Pods, "default", name, metav1.DeleteOptions{GracePeriodSeconds: &grace}); err != nil {
		s.t.Fatal(err)
	}
}

// node is the Node of an agent that changes nothing.
type node struct{}

func (node) Changed() <-chan struct{} { return nil }

func (node) Registration() *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1"}}
}

// agent is an agent's session, mux and status manager, and a sync loop that
// only writes down what comes.
type agent struct {
	t        testing.TB
	mux      *config.Mux
	objects  *objects.Cache
	statuses *status.Manager
	session  *session.Client
	updates  chan podtypes.PodUpdate
	// file remembers the store of the agent's pods.
	file string
	stop func()

	mu sync.Mutex
	// pods are those that the sync loop was told of and not told to remove.
	pods    map[types.UID]*corev1.Pod
	removed map[types.UID]bool
}

func newAgent(t testing.TB, s *server) *agent {
	t.Helper()
	return newAgentOf(t, "id-1", s.dialOptions())
}

// newAgentOf returns the agent of that id, which is connected by those options.
func newAgentOf(t testing.TB, id string, dial []grpc.DialOption) *agent {
	t.Helper()
	a := &agent{
		t:        t,
		file:     filepath.Join(t.TempDir(), "store"),
		mux:      config.New(noEvents{}, discard),
		objects:  objects.New(nil),
		statuses: status.NewManager(discard),
		updates:  make(chan podtypes.PodUpdate, 100),
		pods:     map[types.UID]*corev1.Pod{},
		removed:  map[types.UID]bool{},
	}
	source := a.mux.Source(podtypes.ServerSource)
	a.session = session.New(session.Config{
		Target: "passthrough:///server", DialOptions: dial,
		Node: node{}, NodeID: id, Pods: a.mux, Objects: a.objects, Statuses: a.statuses, Updates: source,
		StoreFile: a.file, Logger: discard,
	})
	ctx, cancel := context.WithCancel(context.Background())
	var parts sync.WaitGroup
	for _, run := range []func(context.Context) error{a.mux.Run, a.session.Run, a.loop} {
		parts.Go(func() { _ = run(ctx) })
	}
	a.stop = func() {
		cancel()
		parts.Wait()
	}
	t.Cleanup(a.stop)
	return a
}

type noEvents struct{}

func (noEvents) Record(*corev1.Pod, string, string, string, string) {}

// loop stands for the sync loop. What nobody takes from updates is dropped.
func (a *agent) loop(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case u := <-a.mux.Updates():
			a.note(u)
			select {
			case a.updates <- u:
			default:
			}
		}
	}
}

func (a *agent) note(u podtypes.PodUpdate) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, p := range u.Pods {
		if u.Op == podtypes.REMOVE {
			delete(a.pods, p.UID)
			a.removed[p.UID] = true
			continue
		}
		a.pods[p.UID] = p
	}
}

// holds returns the names of the pods of the sync loop, by UID.
func (a *agent) holds() map[types.UID]string {
	a.mu.Lock()
	defer a.mu.Unlock()
	names := map[types.UID]string{}
	for uid, p := range a.pods {
		names[uid] = p.Name
	}
	return names
}

// differs says how what the agent holds differs from what the server has; empty
// if it does not.
func (a *agent) differs(s *server) string {
	list, err := s.registry.List(context.Background(), api.Pods, "", registry.ListOptions{})
	if err != nil {
		a.t.Fatal(err)
	}
	held := a.holds()
	for _, obj := range list.Items {
		if _, ok := held[obj.GetUID()]; !ok {
			return fmt.Sprintf("pod %s is missing", obj.GetName())
		}
		delete(held, obj.GetUID())
	}
	for _, name := range held {
		return fmt.Sprintf("pod %s should be gone", name)
	}
	return ""
}
