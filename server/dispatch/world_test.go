// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package dispatch

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/test/bufconn"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-run/berth/api"
	corepb "github.com/berth-run/berth/proto/berth/core/v1"
	nodepb "github.com/berth-run/berth/proto/berth/node/v1"
	"github.com/berth-run/berth/server/events"
	"github.com/berth-run/berth/server/nodes"
	"github.com/berth-run/berth/server/registry"
	"github.com/berth-run/berth/store/bolt"
)

// world is a server with a real registry, and clients to it over bufconn. It runs
// in a synctest bubble, which fails the test if any goroutine is left.
type world struct {
	t        *testing.T
	registry *registry.Registry
	client   nodepb.NodeClient
}

const storeID = "store-1"

// newWorld lets wrap stand between the dispatcher and the registry, unless nil.
func newWorld(t *testing.T, wrap func(Registry) Registry) *world {
	t.Helper()
	return newWorldWith(t, wrap, nil)
}

func newWorldWith(t *testing.T, wrap func(Registry) Registry, metrics prometheus.Registerer) *world {
	t.Helper()
	s, err := bolt.Open(filepath.Join(t.TempDir(), "berth.db"), bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	reg := registry.New(s, registry.Options{})
	if err := reg.EnsureDefaults(t.Context()); err != nil {
		t.Fatal(err)
	}
	n, err := nodes.New(reg, nodes.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var seen Registry = reg
	if wrap != nil {
		seen = wrap(reg)
	}
	logger := slog.New(slog.NewTextHandler(t.Output(), nil))
	d := New(seen, n, Options{StoreID: storeID, Events: events.New(reg, events.Options{}), Logger: logger, Metrics: metrics})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = d.Run(ctx)
	}()

	listener := bufconn.Listen(64 << 10)
	server := grpc.NewServer(ServerOptions()...)
	nodepb.RegisterNodeServer(server, d.Service(nil, nil))
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
		cancel()
		<-ended
		s.Close()
	})
	return &world{t: t, registry: reg, client: nodepb.NewNodeClient(conn)}
}

func (w *world) create(k *api.Kind, obj api.Object) api.Object {
	w.t.Helper()
	created, _, err := w.registry.Create(w.t.Context(), k, obj, registry.WriteOptions{})
	if err != nil {
		w.t.Fatal(err)
	}
	return created
}

func (w *world) createPod(pod *corev1.Pod) *corev1.Pod {
	w.t.Helper()
	return w.create(api.Pods, pod).(*corev1.Pod)
}

func (w *world) deletePod(name string, grace int64) {
	w.t.Helper()
	if _, err := w.registry.Delete(w.t.Context(), api.Pods, "default", name, metav1.DeleteOptions{GracePeriodSeconds: &grace}); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) pod(name string) *corev1.Pod {
	w.t.Helper()
	obj, err := w.registry.Get(w.t.Context(), api.Pods, "default", name)
	if err != nil {
		w.t.Fatal(err)
	}
	return obj.(*corev1.Pod)
}

func newPod(name, node string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
		Spec: corev1.PodSpec{
			NodeName:   node,
			Containers: []corev1.Container{{Name: "c", Image: "i"}},
		},
	}
}

// withSecret makes the pod name a secret.
func withSecret(pod *corev1.Pod, secret string) *corev1.Pod {
	pod.Spec.Containers[0].Env = append(pod.Spec.Containers[0].Env, corev1.EnvVar{
		Name: "E", ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{
			LocalObjectReference: corev1.LocalObjectReference{Name: secret}, Key: "k",
		}},
	})
	return pod
}

func newSecret(name, value string) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
		Data:       map[string][]byte{"k": []byte(value)},
	}
}

// testAgent is the far end of a session.
type testAgent struct {
	t      *testing.T
	stream grpc.BidiStreamingClient[nodepb.AgentMessage, nodepb.ServerMessage]
	cancel context.CancelFunc
	// node is the Node that the server has registered.
	node types.UID
}

// open begins a session of the node's own agent and reads Welcome.
func (w *world) open(node, fromStore string) *testAgent {
	w.t.Helper()
	a := w.hello(node, "id-of-"+node, fromStore)
	a.welcomed()
	return a
}

// welcomed reads Welcome.
func (a *testAgent) welcomed() {
	a.t.Helper()
	welcome := a.recv().GetWelcome()
	if welcome.GetStoreId() != storeID {
		a.t.Fatalf("welcome of store %q", welcome.GetStoreId())
	}
	a.node = types.UID(welcome.GetNode().GetMetadata().GetUid())
}

// hello sends the Hello of an agent of that id.
func (w *world) hello(node, id, fromStore string) *testAgent {
	w.t.Helper()
	// What does not come within an hour of the bubble's time never does.
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
	w.t.Cleanup(cancel)
	stream, err := w.client.Session(ctx)
	if err != nil {
		w.t.Fatal(err)
	}
	a := &testAgent{t: w.t, stream: stream, cancel: cancel}
	a.send(&nodepb.AgentMessage{Message: &nodepb.AgentMessage_Hello{Hello: &nodepb.Hello{
		StoreId: fromStore,
		Node:    nodeMessage(w.t, node),
		NodeId:  id,
	}}})
	return a
}

func nodeMessage(t *testing.T, name string) *corepb.Node {
	m := &corepb.Node{}
	if err := api.FromObject(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}, m); err != nil {
		t.Fatal(err)
	}
	return m
}

// connect begins a session, sends the inventory, and returns what came up to and
// with Synced, in the words of describe.
func (w *world) connect(node string, held ...*nodepb.ObjectKey) (*testAgent, []string) {
	w.t.Helper()
	a := w.open(node, storeID)
	return a, a.sync(held...)
}

func (a *testAgent) sync(held ...*nodepb.ObjectKey) []string {
	a.t.Helper()
	a.send(&nodepb.AgentMessage{Message: &nodepb.AgentMessage_Inventory{Inventory: &nodepb.Inventory{Objects: held, Done: true}}})
	return a.until("SYNCED")
}

func (a *testAgent) send(m *nodepb.AgentMessage) {
	a.t.Helper()
	if err := a.stream.Send(m); err != nil {
		a.t.Fatal(err)
	}
}

func (a *testAgent) report(pod *corev1.Pod, version uint64, status corev1.PodStatus, terminated bool) {
	a.t.Helper()
	a.send(&nodepb.AgentMessage{Message: &nodepb.AgentMessage_PodStatus{PodStatus: &nodepb.PodStatusReport{
		Namespace: pod.Namespace, Name: pod.Name, Uid: string(pod.UID),
		Version: version, Status: statusMessage(a.t, status), Terminated: terminated,
	}}})
}

func statusMessage(t *testing.T, status corev1.PodStatus) *corepb.PodStatus {
	data, err := status.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return api.Raw(&corepb.PodStatus{}, data)
}

func (a *testAgent) recv() *nodepb.ServerMessage {
	a.t.Helper()
	m, err := a.stream.Recv()
	if err != nil {
		a.t.Fatal(err)
	}
	return m
}

// until reads up to the message that is described in that way.
func (a *testAgent) until(last string) []string {
	a.t.Helper()
	var got []string
	for {
		got = append(got, describe(a.t, a.recv())...)
		if len(got) > 0 && got[len(got)-1] == last {
			return got
		}
	}
}

// expect reads until it has as many descriptions, and compares them.
func (a *testAgent) expect(want ...string) {
	a.t.Helper()
	var got []string
	for len(got) < len(want) {
		got = append(got, describe(a.t, a.recv())...)
	}
	equal(a.t, got, want...)
}

// quiet fails if anything comes within a minute.
func (a *testAgent) quiet() {
	a.t.Helper()
	type result struct {
		m   *nodepb.ServerMessage
		err error
	}
	c := make(chan result, 1)
	go func() {
		m, err := a.stream.Recv()
		c <- result{m, err}
	}()
	select {
	case r := <-c:
		a.t.Fatalf("unexpected: %v, %v", r.m, r.err)
	case <-time.After(time.Minute):
	}
	a.cancel()
	<-c
}

// ack reads the next acknowledgement, over what comes before it.
func (a *testAgent) ack() *nodepb.StatusAck {
	a.t.Helper()
	for {
		if ack := a.recv().GetStatusAck(); ack != nil {
			return ack
		}
	}
}

// describe puts each part of a message into a line such as "ADD p" or "secret s".
func describe(t *testing.T, m *nodepb.ServerMessage) []string {
	var lines []string
	switch m := m.GetMessage().(type) {
	case *nodepb.ServerMessage_Objects:
		for _, s := range m.Objects.GetSecrets() {
			lines = append(lines, fmt.Sprintf("secret %s=%s", s.GetMetadata().GetName(), s.GetData()["k"]))
		}
		for _, c := range m.Objects.GetConfigMaps() {
			lines = append(lines, "configmap "+c.GetMetadata().GetName())
		}
		for _, k := range m.Objects.GetRemoved() {
			lines = append(lines, "forget "+strings.ToLower(k.GetKind())+" "+k.GetName())
		}
	case *nodepb.ServerMessage_PodUpdate:
		lines = describePods(m.PodUpdate)
	case *nodepb.ServerMessage_Synced:
		lines = []string{"SYNCED"}
	case *nodepb.ServerMessage_StatusAck:
		lines = []string{fmt.Sprintf("ack %d %s", m.StatusAck.GetVersion(), m.StatusAck.GetError())}
	default:
		t.Fatalf("unexpected message %T", m)
	}
	return lines
}

// describePods leaves out the first of the two steps of a removal by force: it may
// be seen by itself, or not.
func describePods(u *nodepb.PodUpdate) []string {
	var lines []string
	for _, p := range u.GetPods() {
		if m := p.GetMetadata(); u.GetOp() == nodepb.PodUpdate_DELETE && m.GetDeletionGracePeriodSeconds() == 0 {
			continue
		}
		lines = append(lines, u.GetOp().String()+" "+p.GetMetadata().GetName())
	}
	return lines
}

func equal(t *testing.T, got []string, want ...string) {
	t.Helper()
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Fatalf("got:\n\t%s\nwant:\n\t%s", strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
}

func podKey(pod *corev1.Pod) *nodepb.ObjectKey { return key("Pod", pod) }

func key(kind string, o api.Object) *nodepb.ObjectKey {
	return &nodepb.ObjectKey{
		Kind: kind, Namespace: o.GetNamespace(), Name: o.GetName(),
		Uid: string(o.GetUID()), ResourceVersion: o.GetResourceVersion(),
	}
}
